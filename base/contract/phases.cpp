// SPDX-License-Identifier: Apache-2.0
#include "base/contract/phases.hpp"

#include "base/error.hpp"
#include "base/words.hpp"

#include <vector>

namespace base {

const PhaseCard* find_phase(std::string_view name)
{
    const auto* const found =
        std::ranges::find_if(phase_cards, [&](const PhaseCard& card) { return card.name == name; });
    return found == phase_cards.end() ? nullptr : found;
}

std::string text(TrainingPhase phase)
{
    if (phase == TrainingPhase::none) return "none";
    const auto number = static_cast<std::size_t>(phase) - 1;
    return number < phase_cards.size() ? std::string{phase_cards[number].name} : "unknown";
}

TrainingPhase parse_training_phase(const std::string& word)
{
    std::vector<std::string> real;
    for (const TrainingPhase phase : recorded_phases) real.push_back(text(phase));
    const PhaseCard* const found = find_phase(word);
    if (found == nullptr || found->phase == TrainingPhase::other)
        fail_usage("'", word, "' is not a phase of a training (", join_words(real, ", "), ")",
                   did_you_mean(word, real));
    return found->phase;
}

}  // namespace base
