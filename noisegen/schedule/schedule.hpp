// SPDX-License-Identifier: Apache-2.0
// A schedule: what stresses when, in plain structs. Nothing here knows time or CPUs of the machine.
#pragma once

#include "noisegen/schedule/intensity.hpp"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace noisegen {

// A stressor with its checked options, whatever its intensity: what is made once per CPU. In a factorial each factor
// has one of its own.
struct Configured {
    const StressorCard* card = nullptr;
    base::Settings settings;
};

// A factor at one of its levels: what is on in a slot.
struct FactorLevel {
    std::string factor;        // its label, by default the stressor's name
    std::string level;         // "rate=4GiB/s"; empty if the factor has one level only
    std::size_t stressor = 0;  // index into Schedule::stressors
    Intensity intensity;
};

// "mem[rate=4GiB/s]"; the factor alone if it has one level.
std::string text(const FactorLevel& level);

// Levels that are on together: indices into Schedule::levels. Empty: quiet.
using Treatment = std::vector<std::size_t>;

// Entries one after the other, repeated; each repetition is a block.
struct Sequence {
    struct Entry {
        Treatment treatment;
        base::Nanoseconds length;
    };
    std::vector<Entry> entries;
};

// One draw per slot; all of it is one block.
struct RandomSlots {
    struct Share {
        Treatment treatment;
        base::Percent percent;
    };
    std::vector<Share> shares;  // add up to 100 %
    base::Nanoseconds slot;
};

// Blocks that hold each treatment once (quiet: as often as it is listed), each block in a random order of its own.
struct Blocks {
    std::vector<Treatment> treatments;
    std::optional<base::Nanoseconds> slot;  // absent: slot=auto, to be measured
};

struct Schedule {
    enum class Design { sequence, rotation, factorial };
    std::string text;
    Design design = Design::sequence;
    std::vector<Configured> stressors;
    std::vector<FactorLevel> levels;
    std::variant<Sequence, RandomSlots, Blocks> order;

    // Labels in the order of the text, each once; quiet is none.
    std::vector<std::string> factors() const;
    // The stressors that a factorial gives CPUs of their own.
    std::vector<std::size_t> with_own_cpus() const;
    // With the length measured for slot=auto.
    void set_slot(base::Nanoseconds length);
    bool needs_slot() const;
    // Length of all slots, where the schedule gives them one; 0 for others.
    base::Nanoseconds slot_length() const;
    // Length of a blocked schedule's blocks with its slot known; 0 for others.
    base::Nanoseconds block_length() const;
};

std::string name(Schedule::Design design);

// The length of a schedule of one entry, "memory.stream 5s"; none for others.
std::optional<base::Nanoseconds> only_length(const Schedule& schedule);

// Levels that could follow the training and follow none of its phases yet follow these. Throws UsageError if none
// could.
void follow(Schedule& schedule, const std::vector<base::TrainingPhase>& phases);

}  // namespace noisegen
