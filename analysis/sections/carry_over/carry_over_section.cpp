// SPDX-License-Identifier: Apache-2.0
// Section on carry-over: the effect of a noise on the slots after it.

#include "analysis/results/numbers.hpp"
#include "analysis/sections/section.hpp"
#include "base/contract/factor_name.hpp"
#include "base/contract/roles.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

namespace analysis {

namespace {

using base::join;

std::vector<std::string> carry_over_sentences(const Report& report)
{
    const double confidence = report.verdict.confidence;
    std::vector<std::string> left;
    const CarryOver* most = nullptr;
    for (const CarryOver& one : report.analysis.carry_over) {
        const Interval interval = one.percent.interval(confidence);
        if (one.counted)
            left.push_back(join(base::factor_name(one.factor, one.level), " ", signed_percent(one.percent.value), " (",
                                range(interval), ")"));
        if (most == nullptr || interval.high > most->percent.interval(confidence).high) most = &one;
    }
    if (most == nullptr) return {};
    if (left.empty())
        return {join("No carry-over of a noise into later slots is seen; the largest possible one, of ",
                     base::factor_name(most->factor, most->level), ", is ",
                     signed_percent(most->percent.interval(confidence).high),
                     ". No noise was on for longer than a slot: this run does not see effects that take longer, such "
                     "as a queue of loaded batches that runs empty.")};
    return {join("Carry-over of a noise into the ", most->slots == 1 ? "slot" : join(most->slots, " slots"),
                 " after it: ", base::join_words(left, ", "),
                 ". It is part of the noise's slowdown. Longer slots would hold more of it.")};
}

std::vector<NoiseTable> carry_over_table(const Report& report)
{
    if (report.analysis.carry_over.empty()) return {};
    NoiseTable table{.title = "Effect of a noise on the slots after it",
                     .head = {"Noise", "slots", "carry-over", "p"},
                     .rows = {},
                     .note =
                         "How much longer a step is if this noise was on in all preceding slots (the column slots has "
                         "their number), whatever is on now: percent of the mean quiet step. p after Holm's "
                         "correction."};
    for (const CarryOver& one : report.analysis.carry_over)
        table.rows.push_back({one.factor,
                              one.level,
                              "",
                              {{join(one.slots), ""},
                               {fixed(one.percent.value, 2),
                                fixed(one.percent.interval(report.verdict.confidence).half_width(), 2), one.counted},
                               {p_value(one.p_holm), ""}}});
    return {table};
}

void write_carry_over(const std::filesystem::path& file, const Report& report)
{
    base::CsvWriter table{file,
                          {"factor", "level", "role", "carry_over_percent", "low_percent", "high_percent", "p_holm",
                           "steps", "blocks", "slots", "long_steps_slots", "long_steps_percent"}};
    for (const CarryOver& one : report.analysis.carry_over) {
        const Interval interval = one.percent.interval(report.verdict.confidence);
        table.row(one.factor, one.level, base::text(one.role), one.percent.value, interval.low, interval.high,
                  one.p_holm, one.steps, report.analysis.blocks, one.slots, one.long_steps_slots,
                  one.long_steps_percent);
    }
}

void carry_over_json(nlohmann::ordered_json& verdict, const Report& report)
{
    nlohmann::ordered_json& all = verdict["carry_over"] = nlohmann::ordered_json::array();
    for (const CarryOver& one : report.analysis.carry_over) {
        const Interval interval = one.percent.interval(report.verdict.confidence);
        all.push_back({{"factor", one.factor},
                       {"level", one.level},
                       {"carry_over_percent", one.percent.value},
                       {"low_percent", interval.low},
                       {"high_percent", interval.high},
                       {"p_holm", one.p_holm}});
    }
}

}  // namespace

namespace section {

extern const Section carry_over{
    .tables = [](const Report&) -> std::vector<Table> {
        return {{"carry_over.csv", write_carry_over}};
    },
    .sentences = carry_over_sentences,
    .below = carry_over_table,
    .json = carry_over_json,
};

}  // namespace section

}  // namespace analysis
