// SPDX-License-Identifier: Apache-2.0
// Detects which region of an archive is the step of a loop, and collects what its visits consist of.
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

// The region whose visits are the steps, as an index into Archive::regions; empty if no region qualifies.
// A region with an attribute `step`, outside of other such regions; of several the one with the most time. Without one,
// a region that could_be_a_step() and on every rank
// 1. is visited equally often,
// 2. is visited at least 3 times,
// 3. is always entered directly inside the same region,
// 4. has visits of like lengths: two adjacent powers of two hold half of the visits and half of their time,
// 5. covers at least half of the time from the first event to the last;
// of several the outermost, then the one with the most time. Visits of a region inside itself do not count.
// Example: 100 visits of `step`, each 3 to 5 ms, inside the only visit of `main`: `step`.
// A rank (of MPI's largest communicator, else a process) is judged by its first location with events. Reads all events,
// by this number of threads.
std::optional<std::uint32_t> find_step_region(Reader& reader, int threads = 1);

// For archives without such a region: the collective call of MPI from which steps last (read_steps_between()), or none.
// On every rank it is made equally often (up to 1 % apart, as where the program was stopped), at least 3 times, always
// directly inside the same region, and its first and last call are at least half of the run apart. Of several the one
// made least often, if that is 100 times or more (of three MPI_Allreduce and one MPI_Barrier an iteration: the
// barrier), else the one made most often. MPI_Pcontrol, by which programs mark their steps, goes first, however short a
// part of the run they are. Reads all events.
std::optional<std::uint32_t> find_step_call(Reader& reader);

// The result of both searches in one reading: the region, or if there is none, the call.
struct FoundSteps {
    std::optional<std::uint32_t> region;
    std::optional<std::uint32_t> call;
    bool operator==(const FoundSteps&) const = default;
};
FoundSteps find_steps(Reader& reader, int threads = 1);
// The same, for `seen` that has seen all events.
FoundSteps find_steps(const Archive& archive, class UseOfRegions& seen);

// The region with that name. Throws UsageError, naming the option, if there is none.
std::uint32_t step_region_named(const Archive& archive, const std::string& name, const char* option = "--step-region");

// Collects steps from the events that it sees. Its constructor arguments must outlive it; the observer may be null.
class StepVisitor : public Visitor {
 public:
    virtual StepTable table() = 0;  // gives away what was collected
};
std::unique_ptr<StepVisitor> visits_as_steps(const Archive& archive, std::uint32_t region, StepObserver* observer);
std::unique_ptr<StepVisitor> steps_between_visits(const Archive& archive, std::uint32_t region, int every,
                                                  StepObserver* observer);

// Steps are the completed visits of that region that are not inside another visit of it. Reads all events, which the
// observer, if any, sees as well.
StepTable read_steps(Reader& reader, std::uint32_t region, StepObserver* observer = nullptr);

// Steps last from the end of one visit of that region to the end of the next, so that the delay of a rank and the
// resulting waits of other ranks in the call fall into the same step. Phases are that call and the regions next to it.
// A step ends without the next visit if the enclosing region is left. Otherwise like read_steps().
StepTable read_steps_between(Reader& reader, std::uint32_t region, StepObserver* observer = nullptr);

// Throws UsageError that suggests the nearest name. `option` is an option's name, such as "--region".
[[noreturn]] void fail_no_region(const Archive& archive, const std::string& name, const char* option);

}  // namespace otf2
