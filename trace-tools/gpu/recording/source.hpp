// SPDX-License-Identifier: Apache-2.0
// Source of the activities of this process's GPUs: a library loaded at run time, so that nothing else depends on CUDA.
// The library and its user must be built from the same tree; `version` is checked.
#pragma once

#include "trace-tools/gpu/recording/activity.hpp"

#include <cstdint>

namespace gpu {

// Receives the activities of a source. Calls come from any thread, one at a time. Names are valid during the call only.
struct ActivitySink {
    virtual void look(const ClockPair& look) = 0;
    virtual void activity(const Activity& activity) = 0;
    virtual void waits_for(std::uint32_t correlation, std::int64_t stream) = 0;
    virtual void belongs_to(std::uint32_t correlation, std::int64_t id) = 0;
    virtual void dropped(std::uint64_t records) = 0;

 protected:
    ~ActivitySink() = default;
};

struct ActivitySource {
    std::uint32_t version;
    // Begins to record. Returns null, or the reason why that is impossible, as a text with static lifetime.
    const char* (*start)(ActivitySink& sink);
    // Delivers finished activities and stops recording: the sink is not called after this returns.
    void (*stop)();
    // Calls of this thread until leave() belong to the program's object with that number.
    void (*enter)(std::int64_t id);
    void (*leave)();
};

inline constexpr std::uint32_t source_version = 1;
inline constexpr const char* source_symbol = "crosstalk_gpu_activities";  // the symbol of an ActivitySource
inline constexpr const char* source_library = "libcrosstalk-cupti.so";

}  // namespace gpu
