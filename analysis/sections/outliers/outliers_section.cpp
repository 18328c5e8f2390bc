// SPDX-License-Identifier: Apache-2.0
// Section on outliers: steps far longer than others, their time, and the median step, which they do not change.

#include "analysis/results/numbers.hpp"
#include "analysis/sections/section.hpp"
#include "base/contract/factor_name.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/words.hpp"

#include <cmath>

namespace analysis {

namespace {

using base::join;

// A sentence if outliers decide whether the effect exceeds the budget; else empty.
std::string where_outliers_decide(const Report& report, const AccidentRate& rate)
{
    const auto percent_of = [&](const char* measure) {
        const Effect* effect =
            find(report.analysis.effects, rate.factor, rate.level, Kind::alone, measure, all_ranks, Family::measure);
        return effect == nullptr ? 0.0 : effect->percent.value;
    };
    const double with = percent_of(step_with_outliers);
    const double without = percent_of(step_without_outliers);
    if (std::abs(with - without) <= report.verdict.budget_percent) return "";
    return join(" With outliers ", base::factor_name(rate.factor, rate.level), " costs ", signed_percent(with),
                ", without them ", signed_percent(without), ".");
}

std::vector<NoiseTable> outlier_tables(const Report& report)
{
    NoiseTable table{
        .title = "Outliers and the median step",
        .head = {"Noise", "outliers, share of steps", "share of time", "p against quiet", "effect on the median step"},
        .rows = {},
        .note = "A verdict uses the mean step, because that is throughput."};
    for (const AccidentRate& rate : report.analysis.accident_rates) {
        const Effect* median = find(report.analysis.effects, rate.factor, rate.level, Kind::alone, "median step",
                                    all_ranks, Family::measure);
        const std::string effect = median == nullptr
                                       ? ""
                                       : join(signed_percent(median->percent.value), " (",
                                              range(median->percent.interval(report.verdict.confidence)), ")");
        table.rows.push_back({rate.factor,
                              rate.level,
                              "",
                              {{fixed(rate.percent_of_steps, 2) + " %", ""},
                               {fixed(rate.percent_of_time, 2) + " %", ""},
                               {rate.factor == "quiet" ? "" : p_value(rate.p), ""},
                               {effect, ""}}});
        table.note += where_outliers_decide(report, rate);
    }
    return {table};
}

// Sentences on the rarest stall that the run would have met, and on the cost that excluded outliers may still have.
std::vector<std::string> stall_sentences(const Report& report)
{
    std::vector<std::string> met;
    std::vector<std::string> open;
    for (const FactorVerdict& factor : report.verdict.factors) {
        const std::string name = base::factor_name(factor.factor, factor.level);
        for (const AccidentRate& rate : report.analysis.accident_rates) {
            if (rate.factor != factor.factor || rate.level != factor.level || rate.charged) continue;
            if (rate.unmet_one_in > 0.0)
                met.push_back(join(name, " one in ", fixed(rate.unmet_one_in, 0), " steps"));
            else
                open.push_back(join(name, " up to ", signed_percent(factor.at_worst.high)));
        }
    }
    std::vector<std::string> all;
    if (!met.empty())
        all.push_back(join("A stall that is rarer than this may have been missed, because no step was an outlier: ",
                           base::join_words(met, ", "), "."));
    if (!open.empty())
        all.push_back(join("With the excluded outliers and the largest possible carry-over, the slowdown may be: ",
                           base::join_words(open, ", "), "."));
    return all;
}

// Columns: factor,level,percent_of_steps,percent_of_time,p,counted,excess_percent,unmet_one_in
void write_outliers(const std::filesystem::path& file, const Report& report)
{
    base::CsvWriter table{
        file,
        {"factor", "level", "percent_of_steps", "percent_of_time", "p", "counted", "excess_percent", "unmet_one_in"}};
    for (const AccidentRate& rate : report.analysis.accident_rates)
        table.row(rate.factor, rate.level, rate.percent_of_steps, rate.percent_of_time, rate.p, rate.charged ? 1 : 0,
                  rate.excess_percent, rate.unmet_one_in);
}

}  // namespace

namespace section {

extern const Section outliers{
    .tables = [](const Report&) -> std::vector<Table> {
        return {{"outliers.csv", write_outliers}};
    },
    .sentences = stall_sentences,
    .detail = outlier_tables,
};

}  // namespace section

}  // namespace analysis
