// SPDX-License-Identifier: Apache-2.0
// How long this thread waited for its CPU while others ran on it.
#pragma once

#include "base/descriptor.hpp"

#include <cstdint>

namespace noisegen {

// From the scheduler's own account (/proc/thread-self/schedstat). Of the thread that makes it.
class RunqueueDelay {
 public:
    RunqueueDelay();

    // Ready to run, but not running, since the thread began, in ns; 0 where the kernel does not report it.
    std::int64_t waited_ns() const;

 private:
    base::Descriptor file_;
};

}  // namespace noisegen
