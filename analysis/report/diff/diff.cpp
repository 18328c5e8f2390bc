// SPDX-License-Identifier: Apache-2.0
#include "analysis/report/diff/diff.hpp"

#include "analysis/results/numbers.hpp"
#include "base/contract/factor_name.hpp"
#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace analysis {

namespace {

namespace fs = std::filesystem;
using DiffJson = nlohmann::ordered_json;
using base::join;

constexpr double alpha = 0.05;
constexpr double quiet_steps_differ = 0.05;  // relative difference of the quiet steps
constexpr double slots_differ = 1.5;         // ratio of slot lengths

fs::path report_of(const fs::path& directory)
{
    if (!fs::exists(directory)) base::fail_usage("there is no directory ", directory.string());
    for (const fs::path& folder : {directory / base::part::report, directory})
        if (fs::is_regular_file(folder / base::file::verdict)) return folder;
    base::fail_usage(directory.string(), " has no report: interference analyse ", base::shell_word(directory.string()),
                     " makes one");
}

std::optional<double> number_or_none(const DiffJson& json, const char* name)
{
    const auto found = json.find(name);
    return found != json.end() && found->is_number() ? std::optional{found->get<double>()} : std::nullopt;
}

void take_noise(DiffSide& side, const std::string& factor, const DiffJson& json)
{
    const std::string name = base::factor_name(factor, json.value("level", std::string{}));
    side.stressors[name] = json.value("stressor", std::string{});
    side.verdicts[name] = json.at("verdict").get<std::string>();
    side.effects[name] = {.value = json.at("effect_percent").get<double>(),
                          .interval = {json.at("low_percent").get<double>(), json.at("high_percent").get<double>()},
                          .standard_error = number_or_none(json, "standard_error_percent"),
                          .degrees_of_freedom = number_or_none(json, "degrees_of_freedom")};
}

std::string text_of(const DiffJson& json)
{
    if (json.is_string()) return json.get<std::string>();
    if (!json.is_array()) return json.dump();
    std::vector<std::string> words;
    for (const DiffJson& word : json) words.push_back(text_of(word));
    return base::join_words(words, ", ");
}

DiffSide side_of(const std::string& directory, const DiffJson& json)
{
    DiffSide side;
    side.directory = directory;
    side.quiet_step_ms = json.at("quiet_step_ms").get<double>();
    side.budget_percent = json.at("budget_percent").get<double>();
    side.confidence_percent = json.at("confidence_percent").get<double>();
    side.slot_seconds = json.value("slot_seconds", 0.0);
    side.looked = json.contains("stopping") && !json.at("stopping").is_null();
    const DiffJson& identity = json.at("identity");
    side.schedule = identity.at("schedule").get<std::string>();
    side.step_is = identity.value("step_is", std::string{});
    for (const char* name : {"hosts", "model", "data", "strategy", "ranks", "cpu_model", "started", "seed"})
        if (identity.contains(name)) side.identity[name] = text_of(identity.at(name));
    if (json.contains("pooled") && json.at("pooled").at("unit") == "run")
        for (const DiffJson& run : json.at("pooled").at("runs")) side.runs.push_back(run.at("name").get<std::string>());
    for (const auto& [factor, of_factor] : json.at("factors").items()) {
        if (!of_factor.contains("levels")) take_noise(side, factor, of_factor);
        if (of_factor.contains("levels"))
            for (const auto& [level, of_level] : of_factor.at("levels").items()) take_noise(side, factor, of_level);
    }
    return side;
}

// Throws UsageError for reports of different designs, and for two of the same run.
void check_comparable(const DiffSide& before, const DiffSide& after)
{
    const auto refuse = [](const std::string& what, const std::string& a, const std::string& b) {
        base::fail_usage("before and after cannot be compared: ", what, " '", base::shortened(a, 60), "' and '",
                         base::shortened(b, 60), "'");
    };
    const bool same_file = fs::equivalent(before.verdict_file, after.verdict_file);
    const auto started = before.identity.find("started");
    if (same_file || (before.identity == after.identity && started != before.identity.end() &&
                      !started->second.empty() && before.quiet_step_ms == after.quiet_step_ms))
        base::fail_usage(before.directory.string(), " and ", after.directory.string(), " are the same run");
    if (before.schedule != after.schedule) refuse("their schedules are", before.schedule, after.schedule);
    if (before.step_is != after.step_is)
        refuse("a step is not the same thing in both:", before.step_is.empty() ? "the job's own step" : before.step_is,
               after.step_is.empty() ? "the job's own step" : after.step_is);
    if (before.confidence_percent != after.confidence_percent)
        refuse("the confidences of their intervals are", join(before.confidence_percent, " %"),
               join(after.confidence_percent, " %"));
}

void add_limits(Diff& diff)
{
    const DiffSide& before = diff.before;
    const DiffSide& after = diff.after;
    for (const auto& [name, text] : before.identity) {
        const auto other = after.identity.find(name);
        if (name == "started" || name == "seed" || other == after.identity.end() || other->second == text) continue;
        diff.limits.push_back(join("another ", name == "cpu_model" ? "CPU model" : name, " (", text, " before, ",
                                   other->second, " after): the differences include its effect"));
    }
    if (before.runs.empty() || after.runs.empty())
        diff.limits.push_back(
            join(before.runs.empty() && after.runs.empty() ? "one run on each side"
                 : before.runs.empty()                     ? "one run before the change"
                                                           : "one run after the change",
                 ": the intervals do not include variation from run to run; those of crosstalk run --runs 3 on both "
                 "sides do"));
    const double ratio = after.quiet_step_ms / before.quiet_step_ms;
    if (std::abs(ratio - 1.0) > quiet_steps_differ)
        diff.limits.push_back(join("a quiet step takes ", fixed(100.0 * std::abs(ratio - 1.0), 1),
                                   ratio > 1.0 ? " % longer than before" : " % less time than before",
                                   ": points are percent of each side's own quiet step"));
    if (before.slot_seconds > 0.0 && after.slot_seconds > 0.0) {
        const double longer = std::max(before.slot_seconds, after.slot_seconds);
        if (longer > slots_differ * std::min(before.slot_seconds, after.slot_seconds))
            diff.limits.push_back(join("slots are ", fixed(before.slot_seconds, 2), " s long before and ",
                                       fixed(after.slot_seconds, 2),
                                       " s after: in longer ones slow effects build up further"));
    }
    if (before.budget_percent != after.budget_percent)
        diff.limits.push_back(join("the budget is ", before.budget_percent, " % before and ", after.budget_percent,
                                   " % after; the differences do not depend on it"));
    if (before.looked || after.looked)
        diff.limits.emplace_back(
            "a run ended once every verdict was decided: its intervals are wider, and so are those of the differences");
}

}  // namespace

DiffSide read_side(const std::string& directory, const std::string& which)
{
    const fs::path report = report_of(directory);
    const fs::path file = report / base::file::verdict;
    try {
        const DiffJson json = base::read_json(file);
        if (json.value("observed", false))
            base::fail_usage(file.string(), " is of an observed run, whose noise followed no design");
        if (!json.at("trustworthy").get<bool>()) {
            const DiffJson& reasons = json.at("reasons");
            base::fail_usage(which, ": ", directory, " is not trustworthy: ",
                             reasons.empty() ? "its report says so" : text_of(reasons.front()));
        }
        DiffSide side = side_of(directory, json);
        side.verdict_file = file.string();
        if (!(side.quiet_step_ms > 0.0) || !(side.confidence_percent > 0.0 && side.confidence_percent < 100.0))
            base::fail(file.string(), " is not the verdict of a designed run");
        if (side.effects.empty()) base::fail_usage(directory, " has no noise but controls");
        return side;
    } catch (const nlohmann::json::exception&) {
        base::fail(file.string(), " is not the verdict of a designed run");
    }
}

const std::string& change_of(const NoiseDiff& noise)
{
    if (noise.p_holm > alpha || noise.difference.interval.contains(0.0)) return change_word::alike;
    return noise.difference.value > 0.0 ? change_word::worse : change_word::better;
}

Diff diff_of(DiffSide before, DiffSide after)
{
    check_comparable(before, after);
    Diff diff{.before = std::move(before), .after = std::move(after), .noises = {}, .limits = {}};
    diff.confidence_percent = diff.before.confidence_percent;
    std::vector<double> p;
    for (const auto& [noise, effect] : diff.before.effects) {
        const auto other = diff.after.effects.find(noise);
        if (other == diff.after.effects.end()) {
            diff.limits.push_back(join(noise, " was measured before the change only"));
            continue;
        }
        diff.noises.push_back({.noise = noise,
                               .stressor = diff.before.stressors.at(noise),
                               .before = effect,
                               .after = other->second,
                               .verdict_before = diff.before.verdicts.at(noise),
                               .verdict_after = diff.after.verdicts.at(noise),
                               .difference = difference(effect, other->second, diff.confidence_percent / 100.0)});
        p.push_back(diff.noises.back().difference.p);
    }
    for (const auto& [noise, effect] : diff.after.effects)
        if (!diff.before.effects.contains(noise))
            diff.limits.push_back(join(noise, " was measured after the change only"));
    if (diff.noises.empty()) base::fail_usage("before and after cannot be compared: they have no noise in common");
    const std::vector<double> adjusted = holm(p);
    for (std::size_t i = 0; i < adjusted.size(); ++i) diff.noises[i].p_holm = adjusted[i];
    add_limits(diff);
    return diff;
}

}  // namespace analysis
