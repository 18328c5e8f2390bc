// SPDX-License-Identifier: Apache-2.0
// Section on sensitivity: the smallest slowdown that such a run would find.
#include "analysis/results/numbers.hpp"
#include "analysis/sections/section.hpp"
#include "base/contract/factor_name.hpp"
#include "base/error.hpp"
#include "base/words.hpp"

namespace analysis {

namespace {

using base::join;

std::vector<std::string> detectable_slowdowns(const Report& report)
{
    std::vector<std::string> parts;
    for (const Effect* effect : judged_effects(report.analysis))
        parts.push_back(join(percent(detectable_percent(effect->percent, report.verdict.confidence_each)), " (",
                             base::factor_name(effect->factor, effect->level), ")"));
    if (parts.empty()) return {};
    constexpr std::size_t most_noises = 6;
    if (parts.size() > most_noises) {
        parts.resize(most_noises);
        parts.emplace_back("..");
    }
    return {
        join("Smallest slowdown that such a run finds four times out of five: ", base::join_words(parts, ", "), ".")};
}

}  // namespace

namespace section {

extern const Section sensitivity{
    .sentences = detectable_slowdowns,
};

}  // namespace section

}  // namespace analysis
