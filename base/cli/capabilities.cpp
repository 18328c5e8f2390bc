// SPDX-License-Identifier: Apache-2.0
#include "base/cli/capabilities.hpp"

#include "base/error.hpp"
#include "base/words.hpp"

#include <algorithm>

namespace base {

bool contains(const Capabilities& capabilities, const Capability& wanted)
{
    return std::ranges::find(capabilities, &wanted) != capabilities.end();
}

void check_needs(const std::vector<Choice>& choices, const std::vector<Choice>& alternatives)
{
    const auto offering = [](const std::vector<Choice>& among, const Capability& wanted) {
        std::vector<std::string> texts;
        for (const Choice& choice : among)
            if (contains(choice.offers, wanted)) texts.push_back(choice.text);
        return texts;
    };
    for (const Choice& choice : choices)
        for (const Capability* const needed : choice.needs) {
            if (!offering(choices, *needed).empty()) continue;
            const std::vector<std::string> offer = offering(alternatives, *needed);
            fail_usage(choice.text, " needs ", needed->text, offer.empty() ? "" : ": ", join_words(offer, ", "));
        }
}

}  // namespace base
