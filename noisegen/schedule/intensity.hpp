// SPDX-License-Identifier: Apache-2.0
// How strongly a stressor stresses: at a rate, in bursts, at random moments. The team holds it to that.
#pragma once

#include "base/contract/control_file.hpp"
#include "noisegen/schedule/limit.hpp"
#include "noisegen/stressors/stressor.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace noisegen {

struct Intensity {
    std::optional<base::Rate> rate;         // of the whole process while on; absent: as fast as it goes
    std::optional<base::Percent> of_limit;  // the rate as a share of this node's calibrated limit, until that is known
    base::Percent duty{100.0};              // share of each period in which it is on
    base::Nanoseconds period{100'000'000};  // bursts begin at its multiples since the start of the run
    bool poisson = false;                   // steps come at random, the rate is their mean
    std::vector<base::TrainingPhase> follow;  // on only while the training is in one of these; empty: always
    std::optional<ResourceLimit> limit;       // of the operating system, while on
    std::string sched;  // scheduling class while on: other, batch, idle; empty: that of the process
    // Is there anything to fall short of?
    bool asks() const { return rate.has_value() || duty.value < 100.0; }
    bool follows(base::TrainingPhase phase) const
    {
        return std::find(follow.begin(), follow.end(), phase) != follow.end();
    }
    bool operator==(const Intensity&) const = default;
};

// Reads and checks the options of with_intensity(), or of those that the card has: without them as fast as it goes. A
// `rate` stands for the option's. Throws UsageError.
Intensity intensity(const StressorCard& card, const base::Settings& settings, std::optional<base::Rate> rate = {});

// Whether the card has those options.
bool has_intensity(const StressorCard& card);

// "backward" or "forward+backward". Throws UsageError.
std::vector<base::TrainingPhase> parse_follow(const std::string& text);
std::string format_follow(const std::vector<base::TrainingPhase>& phases);

// Names of those options: what two levels of one stressor may differ in and still share its instances.
const std::vector<std::string>& intensity_options();

}  // namespace noisegen
