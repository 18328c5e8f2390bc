// SPDX-License-Identifier: Apache-2.0
// Reads a noise process's archive: the slot table it followed, and when its threads really made noise.
#pragma once

#include "analysis/input/slots.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace analysis {

struct Noise {
    std::filesystem::path archive;
    std::string clock;  // identity of its node's clock, empty if the archive does not say
    std::string host;   // empty likewise
    Design design = Design::sequence;
    std::string schedule;  // as given
    std::string seed;
    std::vector<Slot> slots;  // as executed, at assigned times, on the node's own clock

    // Keyed by region of the locations "cpu N": when at least one thread was in it, in order and disjoint.
    std::map<std::string, std::vector<TimeSpan>> achieved;

    // "cpu N": the least share, over such locations, of the time in which noise was assigned that it recorded at all,
    // be it as quiet. 1 without such locations, or if no noise was assigned.
    double least_recorded = 1.0;
    std::string least_recorded_by;

    std::vector<TimeSpan> stopped;  // when control.pause held the training's processes stopped, in order and disjoint
};

// Throws Error for a missing or unsound archive, for one without a location "schedule" that holds slots, and for slots
// that overlap, leave gaps or are not as long as designed.
Noise read_noise(const std::filesystem::path& archive);

// Share of the time in which each factor and level ("mem[rate=4GiB/s]", "quiet") was assigned that some thread of the
// process was really in the factor. Quiet, placebo and controls, which make no noise, are judged alike where threads
// recorded them.
std::map<std::string, double> achieved_share(const Noise& noise);

// Share of the time in which no noise was assigned (quiet, placebo, controls) that some thread made noise all the same.
double disturbed_share(const Noise& noise);

}  // namespace analysis
