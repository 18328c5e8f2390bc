// SPDX-License-Identifier: Apache-2.0
// Stored events, in the order of time, for a visitor on one thread, with the help of others.
#pragma once

#include "trace-tools/otf2/read/spill.hpp"

#include <array>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <span>

namespace otf2 {

// A few chunks of events are in order before the visitor comes to them. Any thread that has nothing else to do may put
// the next chunk in order; where none did so in time, the visitor's own thread does.
class MergedAhead {
 public:
    explicit MergedAhead(std::span<Spill* const> spills) : in_order_{spills} {}

    // All events, once. Throws what the visitor or the reading throws.
    void read(Visitor& visitor);

    // From any thread, before, during and after read(): puts a chunk in order. False: there is nothing to do now.
    bool help();
    // The same until all are in order, or no longer needed.
    void help_all();

 private:
    void merge(std::unique_lock<std::mutex>& lock);
    bool has_room() const { return merged_ - visited_ < chunks_.size(); }

    Spill::Merge in_order_;
    std::array<Spill::Merge::Chunk, 4> chunks_;

    std::mutex mutex_;
    std::condition_variable changed_;
    std::uint64_t merged_ = 0;  // chunks
    std::uint64_t visited_ = 0;
    bool merging_ = false;  // a thread is
    bool ended_ = false;    // there are no more, or it failed
    std::exception_ptr failure_;
};

}  // namespace otf2
