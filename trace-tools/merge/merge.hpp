// SPDX-License-Identifier: Apache-2.0
// Merges a training and the noise beside it into one archive with a common time line, on which Vampir shows causes
// above effects.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace merge {

struct MergePlan {
    std::filesystem::path training;
    std::vector<std::filesystem::path> noise;     // and what trace-os recorded
    std::optional<std::int64_t> clock_offset_ns;  // training's clock - noise's, where they are not the same clock
};

struct Merged {
    std::size_t locations = 0;
    std::uint64_t events = 0;
    double length_s = 0.0;
    std::size_t others = 0;          // processes, which come before the training's
    std::vector<std::string> notes;  // what could not be taken over, and noise at another time than the training
};

// Writes directory/traces.otf2. Noise processes are called "noise on HOST", those of trace-os keep their names, their
// metrics are the node's, and the events of both keep the time stamps of their own clocks, in the training's ticks and
// with its clock offsets. Memory does not grow with the number of events. Throws Error for archives that are not whole,
// and where noise and training are not known to share a clock (by the property crosstalk::clock_identity, else by the
// stated offset, host by host); UsageError if the training is noise of noisegen, and for an offset between what is
// known to share a clock.
Merged merge_traces(const MergePlan& plan, const std::filesystem::path& directory);

}  // namespace merge
