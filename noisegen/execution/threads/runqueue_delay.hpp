// SPDX-License-Identifier: Apache-2.0
// Time that this thread waited for its CPU while other threads ran on it.
#pragma once

#include "base/descriptor.hpp"

#include <cstdint>

namespace noisegen {

// Reads the scheduler's statistics (/proc/thread-self/schedstat) of the thread that creates the object.
class RunqueueDelay {
 public:
    RunqueueDelay();

    // Time in ns since the thread began in which it was runnable but did not run; 0 if the kernel does not report it.
    std::int64_t waited_ns() const;

 private:
    base::Descriptor file_;
};

}  // namespace noisegen
