// SPDX-License-Identifier: Apache-2.0
// Intensity of a stressor: its rate, its bursts, random arrivals. The team enforces it.
#pragma once

#include "base/contract/control_file.hpp"
#include "noisegen/schedule/limit.hpp"
#include "noisegen/stressors/stressor.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace noisegen {

struct Intensity {
    std::optional<base::Rate> rate;           // rate of the whole process while on; none: unlimited
    std::optional<base::Percent> of_limit;    // the rate as a share of this node's calibrated limit, until resolved
    base::Percent duty{100.0};                // share of each period in which it is on
    base::Nanoseconds period{100'000'000};    // bursts begin at multiples of it since the start of the run
    bool poisson = false;                     // steps arrive at random; the rate is their mean
    std::vector<base::TrainingPhase> follow;  // phases of the training in which it is on; empty: always on
    std::optional<ResourceLimit> limit;       // limit set in the operating system while on
    std::string sched;  // scheduling class while on: other, batch, idle; empty: that of the process
    // Does it request a rate or duty that may be missed?
    bool asks() const { return rate.has_value() || duty.value < 100.0; }
    bool follows(base::TrainingPhase phase) const { return std::ranges::find(follow, phase) != follow.end(); }
    bool operator==(const Intensity&) const = default;
};

// Reads and checks the options of with_intensity(), if the card has them; without them the stressor is unlimited.
// `rate` replaces the rate option. Throws UsageError.
Intensity intensity(const StressorCard& card, const base::Settings& settings, std::optional<base::Rate> rate = {});

// Does the card have those options?
bool has_intensity(const StressorCard& card);

// Parses "backward" or "forward+backward". Throws UsageError.
std::vector<base::TrainingPhase> parse_follow(const std::string& text);
std::string format_follow(const std::vector<base::TrainingPhase>& phases);

// Names of the intensity options. Two levels of one stressor that differ only in these share its instances.
const std::vector<std::string>& intensity_options();

}  // namespace noisegen
