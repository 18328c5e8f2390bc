#include "analysis/report/further/further.hpp"
#include "analysis/report/numbers.hpp"
#include "base/contract/factor_name.hpp"
#include "base/error.hpp"
#include "base/figures.hpp"
#include "base/words.hpp"

#include <algorithm>
#include <array>
#include <sstream>

namespace analysis {

namespace {

using base::join;

// As the levels were written.
base::Prefixes prefixes_of(const ResponseCurve& curve)
{
    const bool is_binary = std::any_of(curve.points.begin(), curve.points.end(), [](const CurvePoint& point) {
        return point.level.find("iB") != std::string::npos;
    });
    return is_binary ? base::Prefixes::binary : base::Prefixes::decimal;
}

std::string interval_text(const ResponseCurve& curve, const DoseEstimate& dose)
{
    if (!dose.low && !dose.high) return "";
    const std::string low = dose.low ? dose_text(curve, *dose.low) : "below what was run";
    return join(" (", low, " to ", dose.high ? dose_text(curve, *dose.high) : "above what was run", ")");
}

std::string safe_part(const ResponseCurve& curve, double confidence)
{
    const DoseEstimate& tolerated = curve.tolerated;
    const double highest = curve.points.back().dose;
    const std::string sure = join(" (", 100.0 * confidence, " %)");
    if (!tolerated.low || *tolerated.low <= 0.0) return "not shown to be safe at any level";
    if (*tolerated.low >= highest) return join("safe at every level, up to ", dose_text(curve, highest), sure);
    return join("safe up to ", dose_text(curve, *tolerated.low), sure);
}

std::string budget_part(const ResponseCurve& curve)
{
    if (!curve.tolerated.value) return "its curve does not reach the budget";
    return join("its curve reaches the budget at ", dose_text(curve, *curve.tolerated.value),
                interval_text(curve, curve.tolerated));
}

std::string break_part(const ResponseCurve& curve, bool any_unsafe)
{
    if (!curve.break_point.value && any_unsafe) return "single levels cost more than the budget, out of order";
    if (!curve.break_point.value) return "at no level, the highest included, is there more than chance explains";
    return join("from ", dose_text(curve, *curve.break_point.value), interval_text(curve, curve.break_point),
                " on it costs more than chance explains");
}

std::string curve_sentence(const ResponseCurve& curve, const Verdict& verdict)
{
    const bool doubtful = std::any_of(verdict.lacked.begin(), verdict.lacked.end(),
                                      [&](const auto& noise) { return noise.first.first == curve.factor; });
    const bool any_unsafe =
        std::any_of(verdict.factors.begin(), verdict.factors.end(), [&](const FactorVerdict& level) {
            return level.factor == curve.factor && level.verdict == base::verdict_word::unsafe;
        });
    const bool may_say = verdict.trustworthy && verdict.insensitive.empty() && !doubtful;
    return join(may_say ? join(curve.factor, " is ", safe_part(curve, verdict.confidence))
                        : join("What ", curve.factor, " may do without harm, this run does not say"),
                "; ", budget_part(curve), "; ", break_part(curve, any_unsafe), ". Levels are ",
                curve.achieved ? "what was achieved." : "what was asked for.");
}

std::string carry_over_sentence(const std::vector<CarryOver>& all, double confidence)
{
    std::vector<std::string> left;
    const CarryOver* most = nullptr;
    for (const CarryOver& one : all) {
        const Interval interval = one.percent.interval(confidence);
        if (one.counted)
            left.push_back(join(base::factor_name(one.factor, one.level), " ", signed_percent(one.percent.value), " (",
                                range(interval), ")"));
        if (most == nullptr || interval.high > most->percent.interval(confidence).high) most = &one;
    }
    if (most == nullptr) return "";
    if (left.empty())
        return join("Nothing of a noise is seen in the slots after it; in the next one at most ",
                    signed_percent(most->percent.interval(confidence).high), " is left, of ",
                    base::factor_name(most->factor, most->level),
                    ". No noise was on for longer than a slot: what takes longer to show, such as a queue of loaded "
                    "batches that runs empty, this run does not see.");
    return join("Of a noise something is left in the ", most->slots == 1 ? "slot" : join(most->slots, " slots"),
                " after it: ", base::join_words(left, ", "),
                ". It is part of the noise's slowdown. Longer slots would hold more of it.");
}

// How rare a stall the run would have met, and how much outliers that are set aside may still cost.
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
        all.push_back(join("A stall that is rarer than this may have been missed, for no step was an outlier: ",
                           base::join_words(met, ", "), "."));
    if (!open.empty())
        all.push_back(
            join("With the outliers that are set aside, and with what may be left in the next slot, the "
                 "slowdown may be: ",
                 base::join_words(open, ", "), "."));
    return all;
}

std::string power_sentence(const Report& report)
{
    std::vector<std::string> parts;
    for (const Effect* effect : judged_effects(report.analysis))
        parts.push_back(join(percent(detectable_percent(effect->percent, report.verdict.confidence_each)), " (",
                             base::factor_name(effect->factor, effect->level), ")"));
    if (parts.empty()) return "";
    constexpr std::size_t most_noises = 6;
    if (parts.size() > most_noises) {
        parts.resize(most_noises);
        parts.emplace_back("..");
    }
    return join("Smallest slowdown that such a run finds four times out of five: ", base::join_words(parts, ", "), ".");
}

NoiseTable tails_table(const Report& report)
{
    constexpr std::array<const char*, 4> measures{"p95 step", "p99 step", "standard deviation",
                                                  "coefficient of variation"};
    NoiseTable table{
        .title = "Tails and variability",
        .head = {"Noise", "p95 of steps", "p99 of steps", "standard deviation", "coefficient of variation"},
        .rows = {},
        .note =
            "Against quiet, outliers included: percent of the quiet mean step, of the last column "
            "points of percent. –: too few steps. The blocks are the unit."};
    for (const Effect& effect : of(report.analysis.effects, Family::step)) {
        if (effect.rank != all_ranks || effect.phase != "step" || effect.kind == Kind::interaction) continue;
        if (effect.kind != judged_kind(report.analysis.effects, effect)) continue;
        NoiseTable::Row& row = table.rows.emplace_back(NoiseTable::Row{effect.factor, effect.level, "", {}});
        for (const char* measure : measures)
            row.cells.push_back(cell_of(find(report.analysis.effects, effect.factor, effect.level, effect.kind, measure,
                                             all_ranks, Family::measure),
                                        report.verdict.confidence));
    }
    return table;
}

NoiseTable carry_over_table(const Report& report)
{
    NoiseTable table{.title = "What is left in the slots after a noise",
                     .head = {"Noise", "slots", "carry-over", "p"},
                     .rows = {},
                     .note =
                         "How much longer a step is if this noise was on in so many slots before, whatever is on "
                         "now: percent of the quiet step. p after Holm's correction."};
    for (const CarryOver& one : report.secondary.carry_over)
        table.rows.push_back({one.factor,
                              one.level,
                              "",
                              {{join(one.slots), ""},
                               {fixed(one.percent.value, 2),
                                fixed(one.percent.interval(report.verdict.confidence).half_width(), 2), one.counted},
                               {p_value(one.p_holm), ""}}});
    return table;
}

}  // namespace

std::string dose_text(const ResponseCurve& curve, double dose)
{
    if (curve.unit == "bytes/s") return base::speed_text(dose, prefixes_of(curve));
    if (curve.unit == "bytes") return base::bytes_text(dose, prefixes_of(curve));
    if (curve.unit == "operations/s") return base::operations_text(dose);
    std::ostringstream text;
    text.precision(3);
    text << dose << (curve.unit == "percent" ? " %" : curve.unit == "s" ? " s" : "");
    return text.str();
}

std::vector<std::string> curve_sentences(const Report& report)
{
    std::vector<std::string> all;
    for (const ResponseCurve& curve : report.secondary.curves) all.push_back(curve_sentence(curve, report.verdict));
    return all;
}

std::vector<std::string> further_sentences(const Report& report)
{
    std::vector<std::string> all = curve_sentences(report);
    all.push_back(carry_over_sentence(report.secondary.carry_over, report.verdict.confidence));
    for (std::string& sentence : stall_sentences(report)) all.push_back(std::move(sentence));
    all.push_back(power_sentence(report));
    std::erase(all, "");
    return all;
}

std::vector<NoiseTable> further_tables(const Report& report)
{
    std::vector<NoiseTable> tables{tails_table(report)};
    if (!report.secondary.carry_over.empty()) tables.push_back(carry_over_table(report));
    return tables;
}

}  // namespace analysis
