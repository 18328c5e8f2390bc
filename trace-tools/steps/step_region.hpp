// Which region of an archive is the step of a loop, and what its visits are made of.
#pragma once

#include "trace-tools/otf2/read/reader.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace otf2 {

// Not one of MPI's or another run-time library's.
bool could_be_a_step(const Region& region);

// Index into Archive::regions. Each rank (of the largest communicator of MPI, else each process) is judged by its first
// location with events. The step is what has an attribute `step` and lies in nothing that has one; of several the one
// with the most time. Where there is none: a region that could be one and on every rank is
// visited equally often and at least 3 times, always directly inside the same region, for visits of like lengths
// (adjacent powers of two hold half of the visits and of their time) and for at least half of the time from the
// first event to the last; of several the outermost, then the one with the most time. Visits of a region inside itself
// do not count. Empty if nothing is like that. Reads all events.
std::optional<std::uint32_t> find_step_region(Reader& reader);

// The one that a user names. Throws UsageError if there is none of that name.
std::uint32_t step_region_named(const Archive& archive, const std::string& name);

struct Step {
    std::int64_t number = 0;  // its attribute `step`, or counted from 0 on its rank
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    std::vector<std::int64_t> phase_ns;  // by StepTable::phases; they add up to the step
};

struct StepsOfRank {
    std::int64_t rank = 0;       // in the largest communicator of MPI; of an archive without one the process's number
    std::uint32_t location = 0;  // the one of the rank with the most steps
    std::vector<Step> steps;     // in the order of time
};

struct StepTable {
    std::vector<std::string> phases;  // regions directly inside steps, in the order of their first visits; then `other`
    std::vector<StepsOfRank> ranks;   // those with any steps, by rank
};

// Steps are the visits of that region that are not inside itself and that end. Reads all events; memory grows with the
// number of steps.
StepTable read_steps(Reader& reader, std::uint32_t region);

}  // namespace otf2
