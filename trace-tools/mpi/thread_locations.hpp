// SPDX-License-Identifier: Apache-2.0
// Provides locations for threads that are not known before their first MPI call.
#pragma once

#include "trace-tools/otf2/write/recorder.hpp"

#include <atomic>
#include <mutex>
#include <vector>

namespace otf2 {

// Locations are named "Master thread", "thread 1" and so on. A thread that ends returns its location for the next
// thread, so that an archive has only as many locations as there were threads at one time.
class ThreadLocations {
 public:
    // Throws what Recorder::location() throws.
    explicit ThreadLocations(Recorder& recorder);

    LocationRecorder& first() { return first_; }

    // Null if the recorder's memory allows no more locations, or recording has ended.
    LocationRecorder* take() noexcept;
    void give_back(LocationRecorder& location) noexcept;

    // True if some threads got no location.
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
