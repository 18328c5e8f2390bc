// SPDX-License-Identifier: Apache-2.0
// Reads a noise process's archive: the slot table that it followed, and when its threads really made noise.
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
    std::string clock;  // identity of its node's clock; empty if the archive does not state it
    std::string host;   // empty if the archive does not state it
    Design design = Design::sequence;
    std::string schedule;  // as given on the command line
    std::string seed;
    std::vector<Slot> slots;  // as executed, with assigned times, on the node's own clock

    // By region of the locations "cpu N": the spans with at least one thread in the region, in order and disjoint.
    std::map<std::string, std::vector<TimeSpan>> achieved;

    // The smallest share of the noise's assigned time in which a location "cpu N" recorded anything, even quiet, and
    // that location. 1 without such locations, or if no noise was assigned.
    double least_recorded = 1.0;
    std::string least_recorded_by;

    std::vector<TimeSpan> stopped;  // spans in which control.pause stopped the training, in order and disjoint
};

// Throws Error for a missing or unsound archive, for an archive without a location "schedule" that holds slots, and for
// slots that overlap, leave gaps or differ from their designed length.
Noise read_noise(const std::filesystem::path& archive);

// For each factor and level ("mem[rate=4GiB/s]", "quiet"): share of its assigned time in which some thread of the
// process was really in the factor. Quiet, placebo and controls make no noise; they are included if threads recorded
// them.
std::map<std::string, double> achieved_share(const Noise& noise);

// Share of the time without assigned noise (quiet, placebo, controls) in which some thread made noise all the same.
double disturbed_share(const Noise& noise);

}  // namespace analysis
