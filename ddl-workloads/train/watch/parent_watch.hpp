// SPDX-License-Identifier: Apache-2.0
// Ends this process if the launcher dies and the ending in good order does not come to its end: MPI may wait for ever.
#pragma once

#include "base/descriptor.hpp"

#include <chrono>
#include <thread>

namespace ddl {

constexpr std::chrono::seconds orphan_patience{3};

// The parent's death sends SIGTERM to this process at once (base::stop_with_parent), and ends it `orphan_patience`
// later. Sleeps until then.
class ParentWatch {
 public:
    ParentWatch();
    ~ParentWatch();
    ParentWatch(const ParentWatch&) = delete;
    ParentWatch& operator=(const ParentWatch&) = delete;

 private:
    base::Descriptor parent_;  // pidfd
    base::Descriptor end_;     // eventfd: this process is done first
    std::thread thread_;
};

}  // namespace ddl
