// SPDX-License-Identifier: Apache-2.0
// Source of activities of this process's GPUs: a library that is loaded at run time, so that nothing else needs
// CUDA. It and its user are built from one tree, which `version` says.
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
    // Begins to record. Null, or why it cannot, in a text that stays.
    const char* (*start)(ActivitySink& sink);
    // Hands over what is done, and records no more: the sink is not called once this has returned.
    void (*stop)();
    // Calls of this thread from here on, until leave(), belong to the program's object of that number.
    void (*enter)(std::int64_t id);
    void (*leave)();
};

inline constexpr std::uint32_t source_version = 1;
inline constexpr const char* source_symbol = "crosstalk_gpu_activities";  // an ActivitySource
inline constexpr const char* source_library = "libcrosstalk-cupti.so";

}  // namespace gpu
