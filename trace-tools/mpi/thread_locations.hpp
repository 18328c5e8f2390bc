// SPDX-License-Identifier: Apache-2.0
// Locations for threads that are unknown before they call MPI.
#pragma once

#include "trace-tools/otf2/write/recorder.hpp"

#include <atomic>
#include <mutex>
#include <vector>

namespace otf2 {

// "Master thread", "thread 1" and so on. A thread that ends gives its location back, and the next one uses it: an
// archive has as many as there were threads at a time.
class ThreadLocations {
 public:
    // Throws what Recorder::location() throws.
    explicit ThreadLocations(Recorder& recorder);

    LocationRecorder& first() { return first_; }

    // Null where the recorder's memory holds no more locations, or recording is over.
    LocationRecorder* take() noexcept;
    void give_back(LocationRecorder& location) noexcept;

    // Whether threads got none.
    bool left_any_out() const { return left_out_; }

 private:
    Recorder& recorder_;
    LocationRecorder& first_;
    std::mutex mutex_;
    std::vector<LocationRecorder*> free_;  // guarded by mutex_
    int made_ = 1;                         // guarded by mutex_
    std::atomic<bool> left_out_{false};
};

}  // namespace otf2
