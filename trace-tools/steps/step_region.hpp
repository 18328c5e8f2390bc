// SPDX-License-Identifier: Apache-2.0
// Detects the region of an archive whose visits are the steps of the main loop, and collects steps and their phases.
#pragma once

#include "trace-tools/otf2/read/reader.hpp"
#include "trace-tools/steps/step_collection.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace otf2 {

// True if the region does not belong to MPI or another run-time library.
bool could_be_a_step(const Region& region);

// Returns the region whose visits are the steps, as an index into Archive::regions; empty if no region qualifies.
// Regions with an attribute `step`, not nested in other such regions, take precedence; among them, the one with the
// most time. Otherwise, a region qualifies if could_be_a_step() is true and, on every rank, it
// 1. is visited equally often,
// 2. is visited at least 3 times,
// 3. is always entered directly inside the same region,
// 4. has visits of similar length: two adjacent powers of two hold half of the visits and half of their time,
// 5. covers at least half of the time from the first event to the last.
// If several qualify, the outermost wins, then the one with the most time. Recursive visits do not count.
// Example: with 100 visits of `step`, each 3 to 5 ms, inside the only visit of `main`, the result is `step`.
// A rank (of MPI's largest communicator, else a process) is judged by its first location with events. Reads all events,
// with this number of threads.
std::optional<std::uint32_t> find_step_region(Reader& reader, int threads = 1);

struct FoundSteps {
    std::optional<std::uint32_t> region;  // find_step_region()
    // The MPI collective whose calls separate the steps (steps_between_visits()) of an archive without such a region;
    // empty if none qualifies. On every rank, it is called equally often (within 1 % or one call, as a killed program
    // may leave it), at least 3 times, always directly inside the same region, and its first and last call are at least
    // half of the run apart. If several qualify, it is the one called least often among those with 100 calls or more
    // (with three MPI_Allreduce and one MPI_Barrier per iteration: the barrier), else the one called most often.
    // MPI_Pcontrol, with which programs mark their steps, takes precedence, however short a part of the run it spans.
    std::optional<std::uint32_t> call;
    bool operator==(const FoundSteps&) const = default;
};
// Reads all events.
FoundSteps find_steps(Reader& reader, int threads = 1);
// Same; `seen` must have seen all events.
FoundSteps find_steps(const Archive& archive, class UseOfRegions& seen);

// Returns the region with that name. Throws UsageError, naming the option, if there is none.
std::uint32_t step_region_named(const Archive& archive, const std::string& name, const char* option = "--step-region");

// Collects steps from the events that it sees. Its constructor arguments must outlive it; the observer may be null.
class StepVisitor : public Visitor {
 public:
    virtual StepTable table() = 0;  // moves the collected steps out; call once
};
std::unique_ptr<StepVisitor> visits_as_steps(const Archive& archive, std::uint32_t region, StepObserver* observer);
// Steps that last from the end of one visit of the region to the end of the next, so that the delay of a rank and the
// resulting waits of other ranks in the call fall into the same step. Phases are that call and the regions next to it.
// A step is discarded if the enclosing region is left before the next visit.
std::unique_ptr<StepVisitor> steps_between_visits(const Archive& archive, std::uint32_t region, int every,
                                                  StepObserver* observer);

// Returns the completed outermost visits of the region as steps. Reads all events; the observer, if any, sees them too.
StepTable read_steps(Reader& reader, std::uint32_t region, StepObserver* observer = nullptr);

// Throws UsageError that suggests the nearest name. `option` is an option's name, such as "--region".
[[noreturn]] void fail_no_region(const Archive& archive, const std::string& name, const char* option);

}  // namespace otf2
