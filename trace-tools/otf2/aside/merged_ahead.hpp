// SPDX-License-Identifier: Apache-2.0
// Visits stored events in time order on one thread, while other threads help to sort them.
#pragma once

#include "trace-tools/otf2/read/spill.hpp"

#include <array>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <span>

namespace otf2 {

// Keeps a few sorted chunks of events ahead of the visitor. Any idle thread may sort the next chunk; if none has done
// so in time, the visitor's own thread does.
class MergedAhead {
 public:
    explicit MergedAhead(std::span<Spill* const> spills) : in_order_{spills} {}

    // Visits all events; call once. Throws errors of the visitor and of reading.
    void read(Visitor& visitor);

    // May be called from any thread, before, during and after read(): sorts one chunk. False: there is nothing to do
    // now.
    bool help();
    // Repeats help() until all events are sorted, or no longer needed.
    void help_all();

 private:
    void merge(std::unique_lock<std::mutex>& lock);
    bool has_room() const { return merged_ - visited_ < chunks_.size(); }

    Spill::Merge in_order_;
    std::array<Spill::Merge::Chunk, 4> chunks_;

    std::mutex mutex_;
    std::condition_variable changed_;
    std::uint64_t merged_ = 0;  // number of sorted chunks
    std::uint64_t visited_ = 0;
    bool merging_ = false;  // a thread is sorting
    bool ended_ = false;    // no chunks are left, or sorting failed
    std::exception_ptr failure_;
};

}  // namespace otf2
