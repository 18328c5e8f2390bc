// SPDX-License-Identifier: Apache-2.0
// Merges a training and the noise that ran with it into one archive with a common time line, on which Vampir shows
// causes above effects.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace merge {

struct MergePlan {
    std::filesystem::path training;
    std::vector<std::filesystem::path> noise;     // archives of noisegen and trace-os
    std::optional<std::int64_t> clock_offset_ns;  // training's clock - noise's, if these differ
};

struct Merged {
    std::size_t locations = 0;
    std::uint64_t events = 0;
    double length_s = 0.0;
    std::size_t others = 0;          // processes of noise and trace-os, before the training's
    std::vector<std::string> notes;  // skipped records, and noise that does not overlap the training
};

// Writes directory/traces.otf2. Noise processes are renamed to "noise on HOST"; those of trace-os keep their names.
// Their metrics become the node's. The events of both keep the time stamps of their own clocks, in the training's ticks
// and with its clock offsets. Memory does not grow with the number of events. Throws Error for incomplete archives, and
// if noise and training are not known to share a clock (by the property crosstalk::clock_identity, else by the stated
// offset, host by host); UsageError if the training is an archive of noisegen, and for an offset between archives that
// are known to share a clock.
Merged merge_traces(const MergePlan& plan, const std::filesystem::path& directory);

}  // namespace merge
