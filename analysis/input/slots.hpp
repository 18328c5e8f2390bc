// SPDX-License-Identifier: Apache-2.0
// The slot table of the job: which treatment was assigned when. A slot is an unbroken span of one treatment.
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

// The union of the spans, in order and disjoint.
std::vector<TimeSpan> merged(std::vector<TimeSpan> stretches);

// Time between start and end that lies in the spans, which are in order and disjoint.
std::int64_t overlap_ns(std::int64_t begin_ns, std::int64_t end_ns, std::span<const TimeSpan> stretches);

// The design by which the order of slots was made. Only randomised orders justify a re-randomisation test.
enum class Design { sequence, rotation, factorial };

// Parses "sequence", "rotation" or "factorial". Throws Error for another word.
Design parse_design(const std::string& text);
std::string text(Design design);

// The amount of an option that a level sets: "rate=4GiB/s".
struct Amount {
    std::string option;           // "rate"
    std::optional<double> value;  // in `unit`; none for an option without an amount ("shape=update")
    std::string unit;             // "bytes/s", "operations/s", "percent", "bytes", "s", or empty
};
Amount amount_of(const std::string& level);

// Factors that are on at the same time. Treatment 0 is always quiet.
struct Treatment {
    std::vector<Assigned> on;

    bool operator==(const Treatment&) const = default;
    std::string name() const;  // "quiet", "mem", "mem[rate=4GiB/s]+net"
};

// True for quiet, placebo, control.delay and control.sham: no stress runs in their slots.
bool is_without_noise(const Treatment& treatment);

// The plan behind the slots, without times: the same on all nodes of the job.
struct Experiment {
    Design design = Design::sequence;
    std::vector<Treatment> treatments;      // the first is quiet
    std::vector<std::size_t> treatment_of;  // [slot]
    std::vector<int> block_of;              // [slot]: 0 .. blocks-1
    int blocks = 0;

    bool randomised() const { return design != Design::sequence; }
};

// Makes the plan of these slots. Treatments are numbered in this order: quiet, single factors by name and amount,
// combinations, controls. In a sequence each repetition is a block; in one that never repeats, a block ends once it has
// every treatment. Throws Error if no slot is quiet, or if all are.
Experiment experiment(Design design, std::span<const Slot> slots);

}  // namespace analysis
