// SPDX-License-Identifier: Apache-2.0
#include "noisegen/resources/worst_shape.hpp"

#include "base/error.hpp"
#include "noisegen/stressors/memory/stream_kernels.hpp"
#include "noisegen/stressors/registry.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace noisegen {

namespace {

bool asks(const Configured& stressor)
{
    return stressor.card->name == "memory.stream" && stressor.settings.text("shape") == worst_shape;
}

}  // namespace

nlohmann::ordered_json to_json(const WorstShape& worst)
{
    return {{"shape", worst.shape},       {"victim", worst.victim}, {"noise_cpus", worst.noise_cpus},
            {"slowdown", worst.slowdown}, {"low", worst.low},       {"high", worst.high},
            {"measured", worst.measured}};
}

WorstShape worst_shape_from(const nlohmann::ordered_json& json)
{
    const WorstShape worst{.shape = json.at("shape"),
                           .victim = json.at("victim"),
                           .noise_cpus = json.at("noise_cpus"),
                           .slowdown = json.at("slowdown"),
                           .low = json.at("low"),
                           .high = json.at("high"),
                           .measured = json.at("measured")};
    stream_shape(worst.shape);
    if (!std::isfinite(worst.slowdown) || worst.slowdown <= 0.0) base::fail("the worst shape lacks a slowdown");
    return worst;
}

std::string text(const WorstShape& worst)
{
    const auto round = [](double value) { return std::round(value * 100.0) / 100.0; };
    return base::join("the worst shape of memory.stream is ", worst.shape, ": with noise on CPUs ", worst.noise_cpus,
                      " the memory accesses of a victim on CPU ", worst.victim, " take ", round(worst.slowdown),
                      " times as long (", round(worst.low), " to ", round(worst.high), ")");
}

bool asks_for_worst_shape(const Schedule& schedule)
{
    return std::ranges::any_of(schedule.stressors, asks);
}

void resolve_worst_shape(Schedule& schedule, const std::optional<WorstShape>& worst)
{
    for (Configured& stressor : schedule.stressors) {
        if (!asks(stressor)) continue;
        if (!worst)
            base::fail_usage(
                "memory.stream[shape=worst]: not measured on this node; measure it with: noisegen calibrate "
                "memory.stream --victim CPU");
        std::map<std::string, std::string> options;
        for (const auto& [name, value] : stressor.settings.all())
            if (stressor.settings.given(name)) options[name] = value;
        options["shape"] = worst->shape;
        stressor.settings = stressors().settings(*stressor.card, options);
    }
}

}  // namespace noisegen
