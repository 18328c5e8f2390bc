// SPDX-License-Identifier: Apache-2.0
// A schedule as plain data: which noise is on when. It does not depend on clocks or CPUs of the machine.
#pragma once

#include "noisegen/schedule/intensity.hpp"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace noisegen {

// A stressor with its checked options, without its intensity: there is one instance per CPU. In a factorial each factor
// has a stressor of its own.
struct Configured {
    const StressorCard* card = nullptr;
    base::Settings settings;
};

// A factor at one of its levels: noise that is on in a slot.
struct FactorLevel {
    std::string factor;        // label of the factor, by default the stressor's name
    std::string level;         // "rate=4GiB/s"; empty if the factor has a single level
    std::size_t stressor = 0;  // index into Schedule::stressors
    Intensity intensity{};
};

// "mem[rate=4GiB/s]"; only "mem" if the factor has a single level.
std::string text(const FactorLevel& level);

// Levels that are on together, as indices into Schedule::levels. Empty: quiet.
using Treatment = std::vector<std::size_t>;

// Entries in a fixed order, repeated; each repetition is a block.
struct Sequence {
    struct Entry {
        Treatment treatment;
        base::Nanoseconds length;
    };
    std::vector<Entry> entries;
};

// An independent draw for each slot; the whole run is one block.
struct RandomSlots {
    struct Share {
        Treatment treatment;
        base::Percent percent;
    };
    std::vector<Share> shares;  // add up to 100 %
    base::Nanoseconds slot;
};

// Blocks that contain each treatment once (quiet as often as it is listed), each block in a random order of its own.
struct Blocks {
    std::vector<Treatment> treatments{};
    std::optional<base::Nanoseconds> slot;  // none: slot=auto, to be measured
};

struct Schedule {
    enum class Design { sequence, rotation, factorial };
    std::string text;
    Design design = Design::sequence;
    std::vector<Configured> stressors;
    std::vector<FactorLevel> levels;
    std::variant<Sequence, RandomSlots, Blocks> order;

    // Labels in the order of the text, each once; quiet has no label.
    std::vector<std::string> factors() const;
    // Stressors to which a factorial assigns CPUs of their own.
    std::vector<std::size_t> with_own_cpus() const;
    // Sets the length measured for slot=auto.
    void set_slot(base::Nanoseconds length);
    bool needs_slot() const;
    // Common length of all slots; 0 if they differ.
    base::Nanoseconds slot_length() const;
    // Length of the blocks of a blocked schedule whose slot length is known; 0 for others.
    base::Nanoseconds block_length() const;
};

std::string name(Schedule::Design design);

// The length in a schedule of a single entry, "memory.stream 5s"; none for others.
std::optional<base::Nanoseconds> only_length(const Schedule& schedule);

// Sets `phases` for all levels that can follow the training and have no phases yet. Throws UsageError if there is no
// such level.
void follow(Schedule& schedule, const std::vector<base::TrainingPhase>& phases);

}  // namespace noisegen
