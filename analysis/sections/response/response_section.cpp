// SPDX-License-Identifier: Apache-2.0
#include "analysis/sections/response/response_section.hpp"

#include "analysis/results/numbers.hpp"
#include "analysis/results/record.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/figures.hpp"
#include "base/words.hpp"

#include <algorithm>
#include <array>
#include <sstream>

namespace analysis {

namespace {

using base::join;
using Json = nlohmann::ordered_json;

struct Curves {
    std::vector<ResponseCurve> rising;
    std::vector<ResponseCurve> falling;
};

// The prefixes with which the levels were written.
base::Prefixes prefixes_of(const ResponseCurve& curve)
{
    const bool is_binary = std::any_of(curve.points.begin(), curve.points.end(), [](const CurvePoint& point) {
        return point.level.find("iB") != std::string::npos;
    });
    return is_binary ? base::Prefixes::binary : base::Prefixes::decimal;
}

// A dose for readers: "6.02 GiB/s", in binary units if the levels have them.
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

std::string interval_text(const ResponseCurve& curve, const DoseEstimate& dose)
{
    if (!dose.low && !dose.high) return "";
    if (!dose.low) return join(" (at most ", dose_text(curve, *dose.high), ")");
    if (!dose.high) return join(" (at least ", dose_text(curve, *dose.low), ")");
    return join(" (", dose_text(curve, *dose.low), " to ", dose_text(curve, *dose.high), ")");
}

// The highest dose such that all measured doses up to it are safe by their verdicts; none: not even the lowest is.
std::optional<double> safe_up_to(const ResponseCurve& curve, const Verdict& verdict)
{
    std::optional<double> safe;
    for (const CurvePoint& point : curve.points) {
        if (!curve.tolerated.low || point.dose > *curve.tolerated.low) break;
        if (!verdict.says(base::verdict_word::safe, curve.factor, point.level)) break;
        safe = point.dose;
    }
    return safe;
}

std::string safe_part(const ResponseCurve& curve, const Verdict& verdict)
{
    const std::string sure = join(" (", 100.0 * verdict.confidence, " %)");
    if (!curve.tolerated.low || *curve.tolerated.low <= 0.0) return "not shown to be safe at any level";
    if (*curve.tolerated.low >= curve.points.back().dose)
        return join("safe at every level, up to ", dose_text(curve, *curve.tolerated.low), sure);
    return join("safe up to ", dose_text(curve, *curve.tolerated.low), ", the highest level that is", sure);
}

std::string budget_part(const ResponseCurve& curve, const std::vector<std::string>& too_much)
{
    if (!curve.tolerated.value && !too_much.empty())
        return join("its monotone curve does not reach the budget, but ", base::join_words(too_much, " and "),
                    too_much.size() == 1 ? " is" : " are", " unsafe");
    if (!curve.tolerated.value) return "its curve does not reach the budget";
    return join("its curve reaches the budget at ", dose_text(curve, *curve.tolerated.value),
                interval_text(curve, curve.tolerated));
}

std::string break_part(const ResponseCurve& curve, const std::vector<std::string>& too_much)
{
    if (!curve.break_point.value && !too_much.empty())
        return "some levels cost more than the budget, but not the highest one";
    if (!curve.break_point.value) return "no level, not even the highest, costs more than chance explains";
    return join("from ", dose_text(curve, *curve.break_point.value), interval_text(curve, curve.break_point),
                " on it costs more than chance explains");
}

std::string curve_sentence(const ResponseCurve& curve, const Verdict& verdict)
{
    const bool doubtful = std::any_of(verdict.lacked.begin(), verdict.lacked.end(),
                                      [&](const auto& noise) { return noise.first.first == curve.factor; });
    std::vector<std::string> too_much;
    for (const CurvePoint& point : curve.points)
        if (verdict.says(base::verdict_word::unsafe, curve.factor, point.level)) too_much.push_back(point.level);
    const bool may_say = verdict.trustworthy && verdict.insensitive.empty() && !doubtful;
    return join(may_say ? join(curve.factor, " is ", safe_part(curve, verdict))
                        : join("This run does not show up to which level ", curve.factor, " is harmless"),
                "; ", budget_part(curve, too_much), "; ", break_part(curve, too_much), ". Levels are ",
                curve.achieved ? "as achieved." : "as requested.");
}

// Achieved dose at each level, mean over noise processes.
Doses doses_on_record(const Report& report)
{
    Doses doses;
    std::map<std::pair<std::string, std::string>, double> processes;
    for (const Record* record : noise_records(report))
        for (const nlohmann::ordered_json& level : list_in(record->json, "factor_levels")) {
            const std::pair key{word(level, "factor"), word(level, "level")};
            Achieved& sum = doses[key];
            sum.bytes_per_s += dose_in(level, "bytes");
            sum.operations_per_s += dose_in(level, "operations");
            sum.duty += number_in(level, "duty").value_or(0.0);
            processes[key] += 1.0;
        }
    for (auto& [key, sum] : doses) {
        sum.bytes_per_s /= processes[key];
        sum.operations_per_s /= processes[key];
        sum.duty /= processes[key];
    }
    return doses;
}

void estimate_curves(Report& report, const SectionInput&)
{
    add_curves(report, {{{&report.run, &report.analysis}}});
}

std::vector<Plot> curve_plots(const std::filesystem::path& folder, const Report& report)
{
    if (curves_of(report).empty()) return {};
    return {draw_response(folder, report)};
}

Json number_or_null(const std::optional<double>& number)
{
    return number ? Json(*number) : Json(nullptr);
}

void add_dose(Json& json, const std::string& name, const DoseEstimate& dose)
{
    json[name] = number_or_null(dose.value);
    json[name + "_low"] = number_or_null(dose.low);
    json[name + "_high"] = number_or_null(dose.high);
}

void curve_json(Json& noise, const Report& report, const std::string& factor)
{
    for (const ResponseCurve& curve : curves_of(report)) {
        if (curve.factor != factor) continue;
        add_dose(noise, "tolerated_level", curve.tolerated);
        add_dose(noise, "break_level", curve.break_point);
        noise["level_unit"] = curve.unit;
        noise["level_is"] = curve.achieved ? "achieved" : "asked";
    }
}

void write_response(const std::filesystem::path& file, const Report& report)
{
    base::CsvWriter table{file,
                          {"factor", "level", "dose", "unit", "dose_is", "effect_percent", "low_percent",
                           "high_percent", "fitted_percent", "fitted_low_percent", "fitted_high_percent"}};
    for (const ResponseCurve& curve : curves_of(report))
        for (const CurvePoint& point : curve.points) {
            const Interval interval = point.percent.interval(report.verdict.confidence_each);
            table.row(curve.factor, point.level, point.dose, curve.unit, curve.achieved ? "achieved" : "asked",
                      point.percent.value, interval.low, interval.high, point.fitted_percent, point.fitted.low,
                      point.fitted.high);
        }
}

}  // namespace

const std::vector<ResponseCurve>& curves_of(const Report& report)
{
    return report.kept.of<Curves>().rising;
}

const std::vector<ResponseCurve>& falling_curves_of(const Report& report)
{
    return report.kept.of<Curves>().falling;
}

void add_curves(Report& report, const std::vector<RunOfCurve>& runs)
{
    const Verdict& verdict = report.verdict;
    for (ResponseCurve& curve :
         response_curves(runs, doses_on_record(report),
                         {verdict.budget_percent, verdict.confidence_each, verdict.looks, report.rules.draws.seed})) {
        Curves& kept = report.kept.of<Curves>();
        if (!curve.falls) curve.tolerated.low = safe_up_to(curve, verdict);
        (curve.falls ? kept.falling : kept.rising).push_back(std::move(curve));
    }
}

std::vector<std::string> curve_sentences(const Report& report)
{
    std::vector<std::string> all;
    for (const ResponseCurve& curve : curves_of(report)) all.push_back(curve_sentence(curve, report.verdict));
    return all;
}

namespace section {

extern const Section response{
    .estimate = estimate_curves,
    .tables = [](const Report&) -> std::vector<Table> {
        return {{"response.csv", write_response, true}};
    },
    .sentences = curve_sentences,
    .plots = curve_plots,
    .terminal = curve_sentences,
    .noise_json = curve_json,
};

}  // namespace section

}  // namespace analysis
