// SPDX-License-Identifier: Apache-2.0
// Executes a program of trace-synth. The program determines which rank waits for which, so the archive comes with the
// results that an analysis must find.
#pragma once

#include "trace-tools/replay/critical_path/critical_path.hpp"
#include "trace-tools/synth/spec.hpp"

#include <compare>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace synth {

struct SynthTruth {
    // Patterns by Cube's names; our own are mpi_icollective_exposed, time inside the wait for a non-blocking
    // collective, and mpi_icollective_wait, the part of it in which other ranks had not started the collective.
    struct Wait {
        std::string pattern;
        std::string communicator;
        std::size_t region = 0;  // index into SynthSpec::regions
        int rank = 0;
        std::int64_t step = -1;  // -1: outside of steps
        auto operator<=>(const Wait&) const = default;
    };
    struct Sum {
        std::int64_t ns = 0;
        std::int64_t count = 0;  // number of calls that waited
    };

    std::map<Wait, Sum> waits;
    replay::PathTimes path_ns;   // time of each activity on the critical path; a location is a rank
    std::int64_t length_ns = 0;  // from the first event to the last
};

// Writes directory/traces.otf2 and the expected results: waits.csv
// (pattern,communicator,region,rank,step,seconds,count) and path.csv (region,rank,seconds). Leaves nothing behind on
// failure. Throws Error for a program that cannot be executed.
SynthTruth synthesize(const SynthSpec& spec, const std::filesystem::path& directory);

}  // namespace synth
