// SPDX-License-Identifier: Apache-2.0
// Undesigned noise: its kind, place and times, from a neighbour's job log or from any archive.
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
    std::string what;   // "sort", "memory.stream"
    std::string level;  // may be empty
};

struct NoiseLog {
    std::filesystem::path file;
    std::vector<Episode> episodes;
    bool realtime = false;  // times are CLOCK_REALTIME; else of the clock below
    std::string clock;      // identity of the node's clock; empty: CLOCK_MONOTONIC of the node it ran on
    std::optional<std::int64_t> realtime_minus_clock_ns;
};

// A table begin_s,end_s,host,what,level (host and level may be missing): seconds since 1970, or, below a billion, of
// the node's CLOCK_MONOTONIC. Throws Error that names line and column.
NoiseLog read_noise_table(const std::filesystem::path& file);

// Any archive. With a location `schedule` (noisegen's) its slots; else the outermost regions of all locations: of a
// program with one region around all, the regions directly inside. Throws Error for an unsound archive and for one
// without regions.
NoiseLog read_noise_regions(const std::filesystem::path& archive);

}  // namespace analysis
