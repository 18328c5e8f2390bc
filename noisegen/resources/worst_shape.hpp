// SPDX-License-Identifier: Apache-2.0
// The shape of memory.stream that slows a victim down most on this node, for memory.stream[shape=worst].
#pragma once

#include "noisegen/schedule/schedule.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>

namespace noisegen {

struct WorstShape {
    std::string shape;       // "partial"
    int victim = 0;          // CPU of the victim
    std::string noise_cpus;  // "1-3"
    double slowdown = 0.0;   // slowdown of a bandwidth victim, with its 95 % interval
    double low = 0.0;
    double high = 0.0;
    std::string measured;  // "2026-01-31T12:00:00Z"
};

nlohmann::ordered_json to_json(const WorstShape& worst);

// Throws Error for an unknown shape or a missing slowdown.
WorstShape worst_shape_from(const nlohmann::ordered_json& json);

// One sentence without the full stop: "on these CPUs the worst shape of memory.stream is partial: ..".
std::string text(const WorstShape& worst);

// Does any stressor of the schedule have shape=worst?
bool asks_for_worst_shape(const Schedule& schedule);

// Replaces every shape=worst in the schedule by the shape from the limits file, `worst`. If it is not known, throws
// UsageError with the command that determines it.
void resolve_worst_shape(Schedule& schedule, const std::optional<WorstShape>& worst);

}  // namespace noisegen
