// Reads a noise process's archive: the chip table it followed, and when its threads really made noise.
#pragma once

#include "analysis/chips.hpp"

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
    std::vector<Chip> chips;  // as executed, at assigned times, on the node's own clock

    // By region of the locations "cpu N": when at least one thread was in it, in order and disjoint.
    std::map<std::string, std::vector<Stretch>> achieved;

    std::vector<Stretch> stopped;  // when control.pause held the training's processes stopped, in order and disjoint
};

// Throws Error for a missing or cut-off archive, and for one without a location "schedule" that holds chips.
Noise read_noise(const std::filesystem::path& archive);

// Share of the time in which each factor was assigned that some thread of the process really made that noise. Factors
// that make none (placebo, control.delay, control.sham) are left out.
std::map<std::string, double> achieved_share(const Noise& noise);

}  // namespace analysis
