// SPDX-License-Identifier: Apache-2.0
#include "analysis/checkpoints/estimate.hpp"

#include "base/error.hpp"
#include "base/figures.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace analysis {

namespace {

constexpr double confidence = 0.95;
constexpr std::size_t least_beside = 5;  // steps on either side of a save, if there are as many

using SaveRef = std::pair<std::size_t, std::size_t>;  // index of the run, and of the save in it

Mean mean_or_single(const std::vector<double>& values)
{
    if (values.size() > 1) return base::mean_of(values);
    return {.value = values.front()};
}

// Sum of independent means. The sum has no standard error if one of the means has none.
Mean sum_of(const Mean& a, const Mean& b)
{
    Mean sum{.value = a.value + b.value};
    if (a.degrees_of_freedom <= 0.0 || b.degrees_of_freedom <= 0.0) return sum;
    sum.standard_error = std::hypot(a.standard_error, b.standard_error);
    const auto term = [](const Mean& mean) {
        return base::VarianceTerm{mean.standard_error * mean.standard_error, mean.degrees_of_freedom};
    };
    sum.degrees_of_freedom = sum.standard_error > 0.0 ? base::joint_degrees_of_freedom({term(a), term(b)})
                                                      : std::min(a.degrees_of_freedom, b.degrees_of_freedom);
    return sum;
}

// [step]: is a save under way in it?
std::vector<bool> steps_of_saves(const CheckpointRun& run)
{
    std::vector<bool> busy(run.step_ms.size(), false);
    for (const Save& save : run.saves)
        if (save.first_step)
            for (std::size_t step = *save.first_step; step <= save.last_step; ++step) busy[step] = true;
    return busy;
}

struct StepSum {
    double ms = 0.0;
    std::size_t steps = 0;
};

// Sums up to `most` consecutive steps, from the one next to `step` in `direction` (1 or -1) on. A step with a save, or
// with another noise than `state`, ends the sum.
StepSum steps_beside(const CheckpointRun& run, const std::vector<bool>& busy, std::size_t step, int direction,
                     std::uint32_t state, std::size_t most)
{
    StepSum sum;
    // Below the first step the index wraps around and ends the loop.
    for (std::size_t i = step + static_cast<std::size_t>(direction); i < run.step_ms.size() && sum.steps < most;
         i += static_cast<std::size_t>(direction)) {
        if (busy[i] || run.state[i] != state) break;
        sum.ms += run.step_ms[i];
        ++sum.steps;
    }
    return sum;
}

SaveAndSteps pair_of(const CheckpointRun& run, const std::vector<bool>& busy, const Save& save)
{
    SaveAndSteps pair;
    if (!save.first_step)
        pair.left_out = "began after the last step";
    else if (save.last_step == *save.first_step)
        pair.left_out = "ended in the step in which it began";
    if (!pair.left_out.empty()) return pair;
    const std::size_t first = *save.first_step + 1;
    double during_ms = 0.0;
    for (std::size_t step = first; step <= save.last_step; ++step) {
        if (run.state[step] != run.state[first] || run.states[run.state[step]].name == several_noises)
            pair.left_out = "noise changed during its steps";
        during_ms += run.step_ms[step];
    }
    if (!pair.left_out.empty()) return pair;
    pair.during = save.last_step + 1 - first;
    const std::size_t most = std::max(pair.during, least_beside);
    StepSum before = steps_beside(run, busy, *save.first_step, -1, run.state[first], most);
    StepSum after = steps_beside(run, busy, save.last_step, 1, run.state[first], most);
    if (before.steps > 0 && after.steps > 0) {  // as many on both sides: a steady drift cancels
        const std::size_t both = std::min(before.steps, after.steps);
        before = steps_beside(run, busy, *save.first_step, -1, run.state[first], both);
        after = steps_beside(run, busy, save.last_step, 1, run.state[first], both);
    }
    pair.beside = before.steps + after.steps;
    if (pair.beside == 0) {
        pair.left_out = "no neighbouring step without a save under the same noise";
        return pair;
    }
    pair.during_ms = during_ms / static_cast<double>(pair.during);
    pair.beside_ms = (before.ms + after.ms) / static_cast<double>(pair.beside);
    return pair;
}

std::vector<SaveAndSteps> pairs_of(const std::vector<CheckpointRun>& runs)
{
    std::vector<SaveAndSteps> pairs;
    for (std::size_t r = 0; r < runs.size(); ++r) {
        const std::vector<bool> busy = steps_of_saves(runs[r]);
        for (std::size_t s = 0; s < runs[r].saves.size(); ++s) {
            if (!runs[r].saves[s].setting.is_async()) continue;
            pairs.push_back(pair_of(runs[r], busy, runs[r].saves[s]));
            pairs.back().run = r;
            pairs.back().save = s;
        }
    }
    return pairs;
}

// Adds the mean over designed runs of the estimates for this mode: the slowdown in percent, and the extra time per
// save. If the steps between saves take L in a slot and are slower by a share p, the extra time is L p / (1 + p).
void take_design(const std::vector<CheckpointRun>& runs, CheckpointGroup& group)
{
    Mean percent;
    Mean extra_s;
    double estimates = 0.0;
    for (const CheckpointRun& run : runs)
        for (const RequestedSaves& requested : run.requested) {
            if (requested.mode != group.setting.mode) continue;
            const double share = requested.percent.value / 100.0;
            const double slope = requested.between_s / ((1.0 + share) * (1.0 + share));
            const Mean own_s{.value = requested.between_s * share / (1.0 + share),
                             .standard_error = slope * requested.percent.standard_error / 100.0,
                             .degrees_of_freedom = requested.percent.degrees_of_freedom};
            percent = estimates > 0.0 ? sum_of(percent, requested.percent) : requested.percent;
            extra_s = estimates > 0.0 ? sum_of(extra_s, own_s) : own_s;
            ++estimates;
        }
    if (estimates == 0.0) return;
    for (Mean* mean : {&percent, &extra_s}) {
        mean->value /= estimates;
        mean->standard_error /= estimates;
    }
    group.between_percent = percent;
    group.between_s = extra_s;
    group.by_design = true;
}

void take_between(const CheckpointReport& report, const std::vector<SaveRef>& members, CheckpointGroup& group)
{
    if (!group.setting.is_async()) return;
    std::vector<double> percent;
    std::vector<double> extra_s;
    for (const SaveAndSteps& pair : report.pairs) {
        const bool is_member = std::binary_search(members.begin(), members.end(), SaveRef{pair.run, pair.save});
        if (!is_member || !pair.left_out.empty()) continue;
        percent.push_back(pair.percent());
        extra_s.push_back(pair.extra_s());
    }
    group.pairs = percent.size();
    if (group.noise.name == no_noise) take_design(report.runs, group);
    if (group.by_design || percent.empty()) return;
    group.between_percent = mean_or_single(percent);
    group.between_s = mean_or_single(extra_s);
}

// Shares of the time under the group's noise, in the runs of its saves.
void take_shares(const CheckpointReport& report, const std::vector<SaveRef>& members, CheckpointGroup& group)
{
    double time_s = 0.0;
    std::size_t last_run = report.runs.size();
    std::vector<double> of_epoch;
    std::vector<double> per_parameter;
    for (const auto& [r, s] : members) {  // in the order of runs
        const CheckpointRun& run = report.runs[r];
        const auto time = run.time.find(group.noise.name);
        if (run.parameters && *run.parameters > 0.0) per_parameter.push_back(run.saves[s].bytes / *run.parameters);
        if (time == run.time.end() || group.noise.name == several_noises) continue;
        if (r != last_run) time_s += time->second.s;
        last_run = r;
        const double step_s = time->second.s / static_cast<double>(time->second.steps);
        if (run.steps_per_epoch && *run.steps_per_epoch > 0.0)
            of_epoch.push_back(100.0 * run.saves[s].stall_s / (*run.steps_per_epoch * step_s));
    }
    if (time_s > 0.0) group.time_percent = 100.0 * group.stall_s.value * static_cast<double>(group.saves) / time_s;
    if (!of_epoch.empty()) group.epoch_percent = mean_or_single(of_epoch).value;
    if (!per_parameter.empty()) group.bytes_per_parameter = mean_or_single(per_parameter).value;
}

void take_saves(const CheckpointReport& report, const std::vector<SaveRef>& members, CheckpointGroup& group)
{
    std::vector<double> stall_s;
    double unfinished_s = 0.0;
    const auto count = static_cast<double>(members.size());
    for (const auto& [r, s] : members) {
        const Save& save = report.runs[r].saves[s];
        stall_s.push_back(save.stall_s);
        group.copy_s += save.copy_s / count;
        group.write_s += save.write_s / count;
        group.sync_s += save.sync_s / count;
        group.bytes += save.bytes / count;
        unfinished_s += std::max(save.duration_s - save.stall_s, 0.0) / count;
    }
    group.saves = members.size();
    group.stall_s = mean_or_single(stall_s);
    if (group.write_s + group.sync_s > 0.0) group.bytes_per_s = group.bytes / (group.write_s + group.sync_s);
    group.costs.unfinished_s = unfinished_s;
}

// Order of a setting's groups: quiet, other states without noise, single noises, several.
int order_of(const NoiseState& noise)
{
    return noise.name == no_noise ? 0 : noise.name == several_noises ? 3 : noise.stresses ? 2 : 1;
}

std::vector<RestartGroup> restart_groups(const std::vector<CheckpointRun>& runs)
{
    std::map<std::tuple<CheckpointSetting, int, std::string>, std::vector<const RestartTime*>> groups;
    for (const CheckpointRun& run : runs)
        for (const RestartTime& restart : run.restarts)
            groups[{restart.setting, order_of(restart.noise), restart.noise.name}].push_back(&restart);
    std::vector<RestartGroup> all;
    for (const auto& [key, members] : groups) {
        RestartGroup& group = all.emplace_back();
        group.setting = members.front()->setting;
        group.noise = members.front()->noise;
        std::vector<double> s;
        const auto count = static_cast<double>(members.size());
        for (const RestartTime* restart : members) {
            s.push_back(restart->s());
            group.verify_s += restart->verify_s / count;
            group.read_s += restart->read_s / count;
            group.bytes += restart->bytes / count;
        }
        group.restarts = members.size();
        group.s = mean_or_single(s);
    }
    return all;
}

// Restarts under `noise` from checkpoints with this setting; nullptr if there are none.
const RestartGroup* restarts_of(const CheckpointReport& report, CheckpointSetting setting, const std::string& noise)
{
    setting.mode.clear();
    setting.fsync = false;
    for (const RestartGroup& one : report.restarts)
        if (one.setting == setting && one.noise.name == noise) return &one;
    return nullptr;
}

void take_restart(const CheckpointReport& report, CheckpointGroup& group)
{
    const RestartGroup* const beside = restarts_of(report, group.setting, group.noise.name);
    const RestartGroup* const quiet = restarts_of(report, group.setting, no_noise);
    const auto take = [&](double s, const char* by) {
        group.costs.restart_s = s;
        group.restart_by = by;
    };
    if (report.question.restart_s)
        take(*report.question.restart_s, restart_word::given);
    else if (beside != nullptr)
        take(beside->s.value, restart_word::measured);
    else if (quiet != nullptr)
        take(quiet->s.value, restart_word::measured_quiet);
    else
        take(group.write_s + group.sync_s, restart_word::bytes);
}

void advise(const CheckpointQuestion& question, CheckpointGroup& group)
{
    group.cost_s = group.between_s ? sum_of(group.stall_s, *group.between_s) : group.stall_s;
    group.costs.checkpoint_s = std::max(group.cost_s.value, 0.0);
    group.costs.mtbf_s = question.mtbf_s;
    if (group.cost_s.value <= 0.0 || group.noise.name == several_noises) return;
    group.young_s = young_interval_s(group.cost_s.value, question.mtbf_s);
    group.daly_s = daly_interval_s(group.cost_s.value, question.mtbf_s);
    if (const std::optional<Interval> cost = interval_of(group.cost_s))
        group.daly_interval = Interval{daly_interval_s(std::max(cost->low, 0.0), question.mtbf_s),
                                       daly_interval_s(cost->high, question.mtbf_s)};
    if (question.budget_percent) group.budget_s = group.cost_s.value * (100.0 / *question.budget_percent - 1.0);
}

void add_notes(CheckpointReport& report)
{
    std::map<std::string, std::size_t> left_out;
    for (const SaveAndSteps& pair : report.pairs)
        if (!pair.left_out.empty()) ++left_out[pair.left_out];
    for (const auto& [why, saves] : left_out)
        report.notes.push_back(
            base::join(base::counted(saves, "asynchronous save"), " without a comparison of steps: ", why));
    const bool overlap = std::any_of(report.groups.begin(), report.groups.end(), [](const CheckpointGroup& group) {
        return group.daly_s && *group.daly_s < group.costs.unfinished_s;
    });
    if (overlap)
        report.notes.emplace_back("an interval is shorter than the write of a checkpoint: saves would overlap");
    const bool unknown = std::any_of(report.groups.begin(), report.groups.end(), [](const CheckpointGroup& group) {
        return group.setting.is_async() && !group.between_s && group.noise.name != several_noises;
    });
    if (unknown)
        report.notes.emplace_back(
            "where the effect on the steps between checkpoints is unknown, a checkpoint's cost is its stall alone");
    for (const CheckpointRun& run : report.runs)
        report.notes.insert(report.notes.end(), run.notes.begin(), run.notes.end());
}

}  // namespace

std::optional<Interval> interval_of(const Mean& mean)
{
    return mean.degrees_of_freedom > 0.0 ? std::optional{mean.interval(confidence)} : std::nullopt;
}

CheckpointReport checkpoint_report(std::vector<CheckpointRun> runs, const CheckpointQuestion& question)
{
    CheckpointReport report{
        .question = question, .runs = std::move(runs), .pairs = {}, .groups = {}, .restarts = {}, .notes = {}};
    std::map<std::tuple<CheckpointSetting, int, std::string>, std::vector<SaveRef>> groups;
    for (std::size_t r = 0; r < report.runs.size(); ++r)
        for (std::size_t s = 0; s < report.runs[r].saves.size(); ++s) {
            const Save& save = report.runs[r].saves[s];
            groups[{save.setting, order_of(save.noise), save.noise.name}].emplace_back(r, s);
        }
    if (groups.empty()) base::fail("no run has a checkpoint (ddl-train --checkpoint-every)");
    report.pairs = pairs_of(report.runs);
    report.restarts = restart_groups(report.runs);
    for (const auto& [key, members] : groups) {
        CheckpointGroup& group = report.groups.emplace_back();
        group.setting = std::get<0>(key);
        group.noise = report.runs[members.front().first].saves[members.front().second].noise;
        take_saves(report, members, group);
        take_shares(report, members, group);
        take_between(report, members, group);
        take_restart(report, group);
        advise(question, group);
    }
    add_notes(report);
    return report;
}

std::vector<CostCurvePoint> cost_curve(const CheckpointGroup& group)
{
    constexpr int points_per_octave = 4;
    constexpr int octaves = 3;  // on either side
    std::vector<CostCurvePoint> curve;
    if (!group.daly_s) return curve;
    for (int point = -octaves * points_per_octave; point <= octaves * points_per_octave; ++point) {
        const double interval_s = *group.daly_s * std::exp2(static_cast<double>(point) / points_per_octave);
        curve.push_back({interval_s, lost_shares(interval_s, group.costs)});
    }
    return curve;
}

}  // namespace analysis
