// SPDX-License-Identifier: Apache-2.0
// Undesigned noise: its kind, host and times, from a neighbour's job log or from any archive.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace analysis {

struct Episode {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    std::string host;   // empty: on every host
    std::string what;   // kind of noise: "sort", "memory.stream"
    std::string level;  // may be empty
};

struct NoiseLog {
    std::filesystem::path file;
    std::vector<Episode> episodes;
    bool realtime = false;  // true: times are CLOCK_REALTIME; false: times are of `clock`
    std::string clock;      // identity of the node's clock; empty: CLOCK_MONOTONIC of the node on which the noise ran
    std::optional<std::int64_t> realtime_minus_clock_ns;
};

// Reads a table begin_s,end_s,host,what,level (host and level are optional). Times are in seconds since 1970, or, if
// below a billion, on the node's CLOCK_MONOTONIC. Throws Error with line and column.
NoiseLog read_noise_table(const std::filesystem::path& file);

// Reads episodes from any archive: the slots of a location `schedule` (noisegen's), else the outermost regions of all
// locations; if a single region surrounds a program, the regions directly inside of it. Throws Error for an unsound
// archive and for one without regions.
NoiseLog read_noise_regions(const std::filesystem::path& archive);

}  // namespace analysis
