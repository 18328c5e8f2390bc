// Carries out a program of trace-synth: who waits for whom follows from it, so the archive comes with what an analysis
// must find in it.
#pragma once

#include "trace-tools/synth/spec.hpp"

#include <compare>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <tuple>

namespace otf2 {

// Patterns by Cube's names; of ours are mpi_icollective_exposed, time inside the wait for a non-blocking collective,
// and mpi_icollective_wait, the part of it in which other ranks had not started the collective.
struct WaitKey {
    std::string pattern;
    std::string communicator;
    std::size_t region = 0;
    int rank = 0;
    std::int64_t step = -1;  // -1: outside of steps
    auto operator<=>(const WaitKey&) const = default;
};

struct WaitSum {
    std::int64_t ns = 0;
    std::int64_t count = 0;  // of calls that waited
};

struct PathKey {
    std::size_t region = 0;
    int rank = 0;
    auto operator<=>(const PathKey&) const = default;
};

struct SynthTruth {
    std::map<WaitKey, WaitSum> waits;
    std::map<PathKey, std::int64_t> path_ns;  // of the critical path
    std::int64_t length_ns = 0;               // from the first event to the last
};

// Writes the archive directory/traces.otf2. Throws Error for a program that cannot be carried out.
SynthTruth synthesize(const SynthSpec& spec, const std::filesystem::path& directory);

// waits.csv (pattern,communicator,region,rank,step,seconds,count) and path.csv (region,rank,seconds).
void write_truth(const SynthTruth& truth, const SynthSpec& spec, const std::filesystem::path& directory);

}  // namespace otf2
