// SPDX-License-Identifier: Apache-2.0
// GPU work that is recorded once and then launched as a whole by one call (a CUDA graph).
#pragma once

#include <functional>
#include <memory>

namespace ddl {

class DeviceGraph {
 public:
    virtual ~DeviceGraph() = default;
    // Calls `work` and records what it queues, without executing it. `work` must not wait for the device; its tensors
    // keep their addresses.
    virtual void record(const std::function<void()>& work) = 0;
    // Queues the recorded work after all work that this thread has queued so far.
    virtual void replay() = 0;
};

// `shares_memory` (may be null) is a graph that is always replayed right before this one. Throws Unavailable if this
// program was built without CUDA.
std::unique_ptr<DeviceGraph> make_device_graph(const DeviceGraph* shares_memory);

}  // namespace ddl
