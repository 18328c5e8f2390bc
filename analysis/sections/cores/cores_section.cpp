// SPDX-License-Identifier: Apache-2.0
// How many cores the job needs: the number, the settings for it, the curve, and what a neighbour gets from the others.
#include "analysis/sections/cores/cores_section.hpp"

#include "analysis/results/identity.hpp"
#include "analysis/results/node_placement.hpp"
#include "analysis/results/numbers.hpp"
#include "analysis/results/record.hpp"
#include "analysis/sections/cores/core_settings.hpp"
#include "analysis/sections/cores/cores.hpp"
#include "analysis/sections/response/response_section.hpp"
#include "analysis/sections/section.hpp"
#include "base/contract/job_cores.hpp"
#include "base/contract/run_directory.hpp"
#include "base/contract/run_record.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace analysis {

namespace {

using base::join;
namespace contract = base::job_cores;
using CoresJson = nlohmann::ordered_json;

constexpr const char* cores_gp =
#include "analysis/sections/cores/cores.gp.inc"
    ;

// "job.cores" of noise.json with this number of cores kept; a null value if there is none.
CoresJson stressor_of(const CoresJson& noise, int keep)
{
    for (const CoresJson& stressor : list_in(noise, "stressors"))
        if (word(stressor, "name") == contract::stressor &&
            word(object_in(stressor, "options"), contract::keep) == std::to_string(keep))
            return stressor;
    return nullptr;
}

std::string neighbour_of(const Report& report, const ResponseCurve& curve)
{
    const int keep = static_cast<int>(std::lround(curve.points.front().dose));
    for (const Record* record : noise_records(report))
        if (const CoresJson stressor = stressor_of(record->json, keep); !stressor.is_null())
            return word(object_in(stressor, "options"), contract::neighbour);
    return contract::no_neighbour;
}

// The CPUs that each rank of a host keeps. Empty if its record lacks them, as those of earlier versions do.
std::vector<base::CpuSet> ranks_in(const CoresJson& noise, int keep)
try {
    const CoresJson stressor = stressor_of(noise, keep);
    std::vector<base::CpuSet> ranks;
    for (const CoresJson& cpus : list_in(stressor, contract::kept_cpus))
        ranks.push_back(base::parse_cpus(cpus.is_string() ? cpus.get<std::string>() : ""));
    return ranks;
} catch (const base::UsageError&) {
    return {};
}

// The cores kept on the first node; all nodes are assumed to be alike.
CoresKept kept_of(const Report& report, int cores)
{
    CoresKept kept{.cores_of_rank = cores, .kept_list = {}, .rank_is_gpu = report.run.computes_on_gpu};
    for (const Record* record : noise_records(report)) {
        const std::vector<base::CpuSet> ranks = ranks_in(record->json, cores);
        if (ranks.empty()) continue;
        base::CpuSet all;
        for (const base::CpuSet& cpus : ranks) all.insert(cpus.begin(), cpus.end());
        kept.cpus_of_rank = static_cast<int>(all.size() / ranks.size());
        kept.cpus_of_node = static_cast<int>(number_in(record->json, "cpus_online").value_or(0.0));
        kept.kept_of_node = static_cast<int>(all.size());
        kept.kept_list = base::format_cpus(all);
        break;
    }
    return kept;
}

// Why the run does not answer how many cores are needed; empty if it does.
std::string why_not(const Report& report)
{
    const Verdict& verdict = report.verdict;
    if (!verdict.trustworthy)
        return verdict.reasons.empty() ? "it is not trustworthy" : "it is not trustworthy: " + verdict.reasons.front();
    if (!verdict.insensitive.empty()) return verdict.insensitive.front();
    return "";
}

std::string of_a_rank(const Report& report, const ResponseCurve& curve)
{
    if (report.run.computes_on_gpu) return " per GPU";
    const int keep = static_cast<int>(std::lround(curve.points.front().dose));
    const auto has_several = [&](const Record* record) { return ranks_in(record->json, keep).size() > 1; };
    const std::vector<const Record*> records = noise_records(report);
    const bool several = report.run.steps.ranks.size() > 1 || std::any_of(records.begin(), records.end(), has_several);
    return several ? " per rank" : "";
}

std::string numbers(const std::vector<int>& cores)
{
    std::vector<std::string> words;
    for (const int number : cores) words.push_back(std::to_string(number));
    return base::join_words(words, ",");
}

std::string cores_to_keep(const Report& report, const ResponseCurve& curve, int cores)
{
    return join("Keep ", cores, cores == 1 ? " core" : " cores", of_a_rank(report, curve), " for this job");
}

std::string answer_of(const Report& report, const ResponseCurve& curve)
{
    if (const std::string why = why_not(report); !why.empty())
        return join("This run does not show how many cores the job needs: ", why, ".");
    const double budget = report.verdict.budget_percent;
    const CoresNeeded needed = cores_needed(curve, report.verdict);
    const std::string at = join(" at ", budget, " %");
    if (!needed.enough)
        return join("This run does not show how many cores the job needs: even with all ", needed.most,
                    " the cost is not shown to be below ", budget, " %. Measure longer.");
    std::string text =
        join(cores_to_keep(report, curve, *needed.enough), " (", 100.0 * report.verdict.confidence_each, " %: ");
    if (needed.at_least < *needed.enough) text += join(needed.at_least, " to ");
    text += join(*needed.enough, at, "; ", needed.most, " were the most tried).");
    if (*needed.enough == needed.most) text += " No smaller number is shown to be enough.";
    if (needed.by_the_curve < needed.enough)
        text += join(" By the fitted curve alone it is ", *needed.by_the_curve, ": a longer run may show it.");
    if (!needed.not_measured.empty()) text += join(" Not measured: ", numbers(needed.not_measured), ".");
    return text;
}

std::string break_of(const ResponseCurve& curve, const Verdict& verdict)
{
    const CoresNeeded needed = cores_needed(curve, verdict);
    return needed.break_point
               ? join("With ", *needed.break_point, " or fewer the cost exceeds what chance explains.")
               : "At no measured number, not even the smallest, does the cost exceed what chance explains.";
}

// The cores to keep; none if the run does not say.
std::optional<CoresKept> recommended(const Report& report, const ResponseCurve& curve)
{
    const CoresNeeded needed = cores_needed(curve, report.verdict);
    if (!needed.enough || !why_not(report).empty()) return std::nullopt;
    return kept_of(report, *needed.enough);
}

std::string settings_sentence(const std::vector<CoreSetting>& settings)
{
    const bool two = std::any_of(settings.begin(), settings.end(),
                                 [](const CoreSetting& setting) { return setting.system == "slurm_before_24_05"; });
    std::vector<std::string> parts;
    for (const CoreSetting& setting : settings)
        parts.push_back(join(setting.system == "slurm"     ? (two ? "Slurm 24.05 and later" : "Slurm")
                             : setting.system == "kubelet" ? "kubelet"
                                                           : "before",
                             ": ", setting.text));
    return base::join_words(parts, "; ") + ".";
}

std::string advice_of(const std::optional<CoresKept>& kept)
{
    if (!kept) return "";
    const char* lacking = kept->kept_list.empty()
                              ? " Records of the noise lack the CPUs that the job kept (kept_cpus, of newer versions): "
                                "SMT siblings are not counted, and no limit of the neighbours' partition is named."
                              : "";
    return settings_sentence(core_settings(*kept)) + lacking;
}

void write_cores(const std::filesystem::path& file, const Report& report)
{
    base::CsvWriter table{file,
                          {"factor", "keep", "effect_percent", "low_percent", "high_percent", "fitted_percent",
                           "fitted_low_percent", "fitted_high_percent", "with_accidents_percent", "neighbour",
                           "neighbour_bytes_per_s", "neighbour_operations_per_s"}};
    for (const ResponseCurve& curve : falling_curves_of(report)) {
        const std::string neighbour = neighbour_of(report, curve);
        for (const CurvePoint& point : curve.points) {
            const Interval interval = point.percent.interval(report.verdict.confidence_each);
            const Achieved achieved = point.achieved.value_or(Achieved{});
            table.row(curve.factor, point.dose, point.percent.value, interval.low, interval.high, point.fitted_percent,
                      point.fitted.low, point.fitted.high, point.fitted_with_accidents, neighbour, achieved.bytes_per_s,
                      achieved.operations_per_s);
        }
    }
}

CoresJson or_null(const std::optional<int>& number)
{
    return number ? CoresJson(*number) : CoresJson(nullptr);
}

CoresJson cores_json(const Report& report, const ResponseCurve& curve)
{
    const std::string why = why_not(report);
    const CoresNeeded needed = cores_needed(curve, report.verdict);
    CoresJson json;
    json["factor"] = curve.factor;
    json["keep"] = why.empty() ? or_null(needed.enough) : CoresJson(nullptr);
    json["at_least"] = needed.at_least;
    json["by_the_curve"] = or_null(needed.by_the_curve);
    json["most"] = needed.most;
    json["break_point"] = or_null(needed.break_point);
    json["not_measured"] = needed.not_measured;
    json["why"] = why;
    json["neighbour"] = neighbour_of(report, curve);
    json["answer"] = answer_of(report, curve);
    json["settings"] = CoresJson::object();
    const std::optional<CoresKept> kept = recommended(report, curve);
    if (kept)
        for (const CoreSetting& setting : core_settings(*kept)) json["settings"][setting.system] = setting.text;
    json["advice"] = advice_of(kept);
    return json;
}

CoresJson all_cores_json(const Report& report)
{
    CoresJson list = CoresJson::array();
    for (const ResponseCurve& curve : falling_curves_of(report)) list.push_back(cores_json(report, curve));
    return list;
}

void write_cores_json(const std::filesystem::path& file, const Report& report)
{
    const Identity run = identity(report);
    CoresJson json;
    json["format"] = base::format_version;
    json["trustworthy"] = report.verdict.trustworthy;
    json["budget_percent"] = report.verdict.budget_percent;
    json["confidence_percent"] = 100.0 * report.verdict.confidence_each;
    json["quiet_step_ms"] = report.verdict.quiet_step_ms;
    json["hosts"] = run.hosts;
    json["cpu_model"] = run.cpu_model;
    json["ranks"] = run.ranks;
    json["cores"] = all_cores_json(report);
    base::write_whole(file, base::json_text(json) + "\n");
}

// A run that measures nothing but cores was made to know how many to keep.
Headline cores_headline(const Report& report)
{
    const std::vector<FactorVerdict>& noises = report.verdict.factors;
    const bool only_cores = std::all_of(
        noises.begin(), noises.end(), [](const FactorVerdict& noise) { return noise.stressor == contract::stressor; });
    const std::vector<ResponseCurve> curves = falling_curves_of(report);
    if (!only_cores || curves.size() != 1) return {};
    const CoresNeeded needed = cores_needed(curves.front(), report.verdict);
    if (!needed.enough || !why_not(report).empty())
        return {.text = "This run does not show how many cores the job needs", .plot = "cores"};
    return {.text = cores_to_keep(report, curves.front(), *needed.enough), .plot = "cores"};
}

}  // namespace

Plot draw_cores(const std::filesystem::path& folder, const Report& report)
{
    const auto set_own = [&](base::GnuplotVariables& variables) {
        std::vector<double> most;
        std::vector<double> enough;
        for (const ResponseCurve& curve : falling_curves_of(report)) {
            most.push_back(curve.points.front().dose);
            enough.push_back(cores_needed(curve, report.verdict).enough.value_or(0));
        }
        variables.set("most", most);
        variables.set("enough", enough);
    };
    return draw_curves(
        folder, report, falling_curves_of(report),
        {.plot = {.name = "cores",
                  .title = "What fewer cores cost the job",
                  .caption = "Dots: the slowdown with this number of cores kept, with its interval. Line: the monotone "
                             "curve. Red: the budget. Shaded: numbers of cores that are shown to be enough."},
         .script = cores_gp,
         .dose_column = "keep",
         .dose = [](const ResponseCurve&, double cores) { return base::format(cores); },
         .set_own = set_own});
}

std::vector<std::string> cores_sentences(const Report& report)
{
    std::vector<std::string> all;
    for (const ResponseCurve& curve : falling_curves_of(report)) {
        const bool says = why_not(report).empty();
        all.push_back(join(answer_of(report, curve), says ? " " + break_of(curve, report.verdict) : ""));
        if (const std::string advice = advice_of(recommended(report, curve)); !advice.empty()) all.push_back(advice);
    }
    return all;
}

namespace section {

extern const Section cores{
    .tables = [](const Report& report) -> std::vector<Table> {
        if (falling_curves_of(report).empty()) return {};
        return {{base::file::cores, write_cores, true}, {base::file::cores_record, write_cores_json, true}};
    },
    .answer = cores_sentences,
    .headline = cores_headline,
    .plots = [](const std::filesystem::path& folder, const Report& report) -> std::vector<Plot> {
        if (falling_curves_of(report).empty()) return {};
        return {draw_cores(folder, report)};
    },
    .terminal = cores_sentences,
    .markdown_title = "Cores",
    .markdown = cores_sentences,
    .json =
        [](nlohmann::ordered_json& verdict, const Report& report) {
            if (!falling_curves_of(report).empty()) verdict["cores"] = all_cores_json(report);
        },
};

}  // namespace section

}  // namespace analysis
