// SPDX-License-Identifier: Apache-2.0
// The slot table: which treatment was assigned when, job-wide. A slot is one stretch of one treatment.
#pragma once

#include "base/system/clock.hpp"
#include "trace-tools/steps/slots.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace analysis {

using base::TimeSpan;
using otf2::Assigned;
using otf2::Slot;

// In order and disjoint.
std::vector<TimeSpan> merged(std::vector<TimeSpan> stretches);

// How much of the time lies in the stretches, which are in order and disjoint.
std::int64_t overlap_ns(std::int64_t begin_ns, std::int64_t end_ns, std::span<const TimeSpan> stretches);

// How the order of slots was made. Only randomised orders justify a re-randomisation test.
enum class Design { sequence, rotation, factorial };

// "sequence", "rotation", "factorial". Throws Error for another word.
Design parse_design(const std::string& text);
std::string text(Design design);

// How much of something a level is: "rate=4GiB/s".
struct Amount {
    std::string option;           // "rate"
    std::optional<double> value;  // in the unit; none for what is no amount ("shape=update")
    std::string unit;             // "bytes/s", "operations/s", "percent", "bytes", "s", or empty
};
Amount amount_of(const std::string& level);

// Factors that are on together. Treatment 0 is always quiet.
struct Treatment {
    std::vector<Assigned> on;

    bool operator==(const Treatment&) const = default;
    std::string name() const;  // "quiet", "mem", "mem[rate=4GiB/s]+net"
};

// True of quiet, placebo, control.delay and control.sham: no stress runs in their slots.
bool is_without_noise(const Treatment& treatment);

// The plan behind the slots, without times: equal on all nodes of the job.
struct Experiment {
    Design design = Design::sequence;
    std::vector<Treatment> treatments;      // the first is quiet
    std::vector<std::size_t> treatment_of;  // by slot
    std::vector<int> block_of;              // by slot, 0 .. blocks-1
    int blocks = 0;

    bool randomised() const { return design != Design::sequence; }
};

// Numbers treatments: quiet, single factors by name and level (by its amount), combinations, controls. In a sequence
// each repetition is a block; if it never repeats, a block ends as soon as it has seen every treatment. Throws Error if
// no slot is quiet, or nothing else was assigned.
Experiment experiment(Design design, std::span<const Slot> slots);

}  // namespace analysis
