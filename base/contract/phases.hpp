// SPDX-License-Identifier: Apache-2.0
// The phases of a training step. They partition the step in the trace, in steps.csv and in the control file.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace base {

// The numbers are part of the control file's layout.
enum class TrainingPhase : std::uint32_t {
    none = 0,
#define PHASE(name, ...) name,
#include "base/contract/phases.inc"
#undef PHASE
};

// The kind of work that a phase belongs to.
enum class PhasePart { input, compute, exchange, checkpoint, control, rest };

// Time in which the rank works, or waits for other ranks.
enum class PhaseTime { works, waits };

struct PhaseCard {
    TrainingPhase phase;
    std::string_view name;  // name of its region in a trace; with _ns, of its column in steps.csv
    PhasePart part;
    PhaseTime time;
    std::string_view words;        // "computing the forward pass"
    std::uint32_t colour;          // 0xrrggbb on a white background
    std::uint32_t colour_on_dark;  // 0xrrggbb on a black background
    std::string_view summary;
    std::string_view reading;
};

inline constexpr std::array phase_cards{
#define PHASE(name, part, time, words, colour, on_dark, summary, reading) \
    PhaseCard{TrainingPhase::name, #name, PhasePart::part, PhaseTime::time, words, colour, on_dark, summary, reading},
#include "base/contract/phases.inc"
#undef PHASE
};

// The card of any phase except none.
constexpr const PhaseCard& card_of(TrainingPhase phase)
{
    return phase_cards[static_cast<std::size_t>(phase) - 1];
}

// The phases that are recorded as regions inside of `step`, in the order of the list; the rest of the step is `other`.
inline constexpr std::array recorded_phases = [] {
    std::array<TrainingPhase, phase_cards.size() - 1> all{};
    std::transform(phase_cards.begin(), phase_cards.end() - 1, all.begin(),
                   [](const PhaseCard& card) { return card.phase; });
    return all;
}();

// Returns null if no phase has that name.
const PhaseCard* find_phase(std::string_view name);

// Text form of a phase, such as "wait_exchange". parse_training_phase() throws UsageError for any other word, and for
// "none" and "other".
std::string text(TrainingPhase phase);
TrainingPhase parse_training_phase(const std::string& word);

}  // namespace base
