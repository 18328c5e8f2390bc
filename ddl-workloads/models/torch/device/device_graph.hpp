// SPDX-License-Identifier: Apache-2.0
// Work of a GPU that is recorded once and then handed in as a whole, with one call (a CUDA graph).
#pragma once

#include <functional>
#include <memory>

namespace ddl {

class DeviceGraph {
 public:
    virtual ~DeviceGraph() = default;
    // Calls `work` and keeps what it queues, which is not done by that. It must not wait for the device; its tensors
    // keep their places in memory.
    virtual void record(const std::function<void()>& work) = 0;
    // Queues the work, behind what this thread has queued so far.
    virtual void replay() = 0;
};

// `shares_memory`, if any: a graph that is always replayed right before this one. Throws Unavailable if this was built
// without CUDA.
std::unique_ptr<DeviceGraph> make_device_graph(const DeviceGraph* shares_memory);

}  // namespace ddl
