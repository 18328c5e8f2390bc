// SPDX-License-Identifier: Apache-2.0
// Ends this process if its launcher dies and the process does not end in good order by then: MPI may wait for ever.
#pragma once

#include "base/descriptor.hpp"

#include <chrono>
#include <thread>

namespace ddl {

constexpr std::chrono::seconds orphan_patience{3};

// The parent's death sends SIGTERM to this process immediately (base::stop_with_parent) and ends the process
// `orphan_patience` later. The watching thread sleeps until the parent dies.
class ParentWatch {
 public:
    ParentWatch();
    ~ParentWatch();
    ParentWatch(const ParentWatch&) = delete;
    ParentWatch& operator=(const ParentWatch&) = delete;

 private:
    base::Descriptor parent_;  // pidfd
    base::Descriptor end_;     // eventfd, written when this process ends first
    std::thread thread_;
};

}  // namespace ddl
