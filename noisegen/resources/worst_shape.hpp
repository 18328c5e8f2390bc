// SPDX-License-Identifier: Apache-2.0
// The shape of memory.stream that slowed a victim down most on this node, for memory.stream[shape=worst].
#pragma once

#include "noisegen/schedule/schedule.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>

namespace noisegen {

struct WorstShape {
    std::string shape;       // "partial"
    int victim = 0;          // on which CPU
    std::string noise_cpus;  // "1-3"
    double slowdown = 0.0;   // of the victim's bandwidth, with its 95 % interval
    double low = 0.0;
    double high = 0.0;
    std::string measured;  // "2026-01-31T12:00:00Z"
};

nlohmann::ordered_json to_json(const WorstShape& worst);

// Throws Error for a shape that there is not, or no slowdown.
WorstShape worst_shape_from(const nlohmann::ordered_json& json);

// "on these CPUs the worst shape of memory.stream is partial: ..", a sentence without a full stop.
std::string text(const WorstShape& worst);

// Does any stressor ask for it?
bool asks_for_worst_shape(const Schedule& schedule);

// Every shape=worst of the schedule becomes the shape of the limits. Throws UsageError, with the command that finds it,
// if none is known. `worst`: of the limits.
void resolve_worst_shape(Schedule& schedule, const std::optional<WorstShape>& worst);

}  // namespace noisegen
