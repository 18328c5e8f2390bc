// SPDX-License-Identifier: Apache-2.0
#include "analysis/outcomes/tables.hpp"

#include "analysis/outcomes/strata.hpp"
#include "base/error.hpp"
#include "base/units.hpp"

#include <algorithm>
#include <set>

namespace analysis {

namespace {

bool is_trial(const ClassedTrial& one)
{
    return one.trial.kind == base::trial_kind::trial;
}

bool has_ruined(const ClassedTrial& one)
{
    return is_ruined(one.what);
}

bool is_caught(const ClassedTrial& one)
{
    return !one.outcome.caught.empty();
}

// Compares trials in pairs from the same row of trials.csv, which draws the same bits in equal models.
StrategyComparison compared(const std::vector<ClassedTrial>& trials, const std::string& first,
                            const std::string& second, const std::string& target)
{
    constexpr double alpha = 0.05;
    StrategyComparison found{first, second, target};
    std::map<std::string, const ClassedTrial*> others;
    for (const ClassedTrial& one : trials)
        if (one.strategy == second) others[one.trial.name] = &one;
    for (const ClassedTrial& one : trials) {
        if (one.strategy != first || one.trial.target != target || !is_trial(one)) continue;
        const auto other = others.find(one.trial.name);
        if (other == others.end() || !(other->second->trial == one.trial)) continue;
        ++found.pairs;
        found.only_first += is_ruined(one.what) && !is_ruined(other->second->what) ? 1 : 0;
        found.only_second += !is_ruined(one.what) && is_ruined(other->second->what) ? 1 : 0;
    }
    found.p = base::mcnemar_p(found.only_first, found.only_second);
    found.least_difference = base::mcnemar_least_difference(found.only_first + found.only_second, alpha);
    return found;
}

std::vector<StrategyComparison> comparisons_of(const std::vector<ClassedTrial>& trials)
{
    std::set<std::string> strategies;
    std::set<std::string> targets;
    for (const ClassedTrial& one : trials) {
        strategies.insert(one.strategy);
        if (is_trial(one)) targets.insert(one.trial.target);
    }
    std::vector<StrategyComparison> all;
    for (auto first = strategies.begin(); first != strategies.end(); ++first)
        for (auto second = std::next(first); second != strategies.end(); ++second)
            for (const std::string& target : targets) all.push_back(compared(trials, *first, *second, target));
    return all;
}

// Equal weights, for null trials, which draw no bits.
std::vector<WeightedTrial> evenly(const std::vector<const ClassedTrial*>& trials)
{
    std::vector<WeightedTrial> all;
    for (const ClassedTrial* one : trials) all.push_back({.trial = one, .weight = 1.0});
    return all;
}

std::vector<double> seconds_of_nulls(const std::vector<ClassedTrial>& trials, const std::string& guard)
{
    std::vector<double> seconds;
    for (const ClassedTrial& one : trials)
        if (one.trial.kind == base::trial_kind::null && one.trial.guard == guard)
            seconds.push_back(one.outcome.seconds);
    return seconds;
}

// Cost of a guard from null trials in order: the first with the guard is compared with the first without, and so on.
// A trial that crashed has no duration and leaves out its pair; the checks of the report name it.
std::optional<base::Mean> cost_of(const std::vector<ClassedTrial>& trials, const std::string& guard)
{
    const std::vector<double> with = seconds_of_nulls(trials, guard);
    const std::vector<double> without = seconds_of_nulls(trials, "none");
    std::vector<double> percent;
    for (std::size_t i = 0; i < std::min(with.size(), without.size()); ++i)
        if (with[i] > 0.0 && without[i] > 0.0) percent.push_back(100.0 * (with[i] / without[i] - 1.0));
    if (percent.size() < 2) return std::nullopt;
    return base::mean_of(percent);
}

GuardRow guard_row(const OutcomeReport& report, const std::string& guard, ProportionInterval kind)
{
    std::vector<const ClassedTrial*> here;
    std::vector<const ClassedTrial*> nulls;
    std::vector<double> latencies;
    for (const ClassedTrial& one : report.trials) {
        if (one.trial.guard != guard) continue;
        if (one.trial.kind == base::trial_kind::null) nulls.push_back(&one);
        if (!is_trial(one)) continue;
        here.push_back(&one);
        if (is_caught(one)) latencies.push_back(base::parse<double>(one.outcome.caught));
    }
    const std::vector<WeightedTrial> weights = weighed(here, together);
    GuardRow row{.guard = guard,
                 .ruined = share_of(weights, has_ruined, kind),
                 .caught = share_of(weights, is_caught, kind),
                 .false_alarms = share_of(evenly(nulls), is_caught, kind),
                 .worth = {}};
    if (!latencies.empty()) row.latency = base::mean_of(latencies).value;
    if (latencies.size() > 1) {
        const base::Interval steps = base::mean_of(latencies).interval(0.95);
        row.latency_interval = {std::max(0.0, steps.low), steps.high};
    }
    if (guard == "none") return row;
    row.cost_percent = cost_of(report.trials, guard);
    row.noisy_cost_percent = cost_of(report.noisy, guard);
    return row;
}

double flips_in_1000_hours(const std::vector<const ClassedTrial*>& trials, const ErrorRate& fit)
{
    constexpr double mbit = 1048576.0;
    return fit.per_mbit * 1e-9 * bits_of(trials) / mbit * 1000.0;
}

std::vector<RuinedRuns> ruined_runs(const std::vector<ClassedTrial>& trials, const ErrorRate& fit,
                                    ProportionInterval kind)
{
    std::map<std::pair<std::string, std::string>, std::vector<const ClassedTrial*>> groups;
    for (const ClassedTrial* one : left_to_themselves(trials))
        if (one->trial.count == 1) groups[{one->strategy, one->trial.target}].push_back(one);
    std::vector<RuinedRuns> all;
    for (const auto& [group, here] : groups) {
        const double flips = flips_in_1000_hours(here, fit);
        const ClassShare share = share_of(weighed(here, together), has_ruined, kind);
        all.push_back({group.first,
                       group.second,
                       flips,
                       flips * share.percent / 100.0,
                       {flips * share.percent_interval.low / 100.0, flips * share.percent_interval.high / 100.0}});
    }
    return all;
}

// Judges guards. A guard is worth its time if the runs that it saves in 1,000 node hours would have lost more time than
// it takes. Memory flips one bit at a time, so trials of several flips do not count. Undecided if trials with and
// without the guard drew from different bits, because they then do not show the guard's effect.
void judge(std::vector<GuardRow>& guards, const std::vector<ClassedTrial>& trials, const ErrorRate& fit,
           ProportionInterval kind)
{
    std::vector<const ClassedTrial*> all;
    std::map<std::string, std::vector<const ClassedTrial*>> of_guard;
    for (const ClassedTrial& one : trials) {
        if (!is_trial(one) || one.trial.count != 1) continue;
        all.push_back(&one);
        of_guard[one.trial.guard].push_back(&one);
    }
    if (std::none_of(guards.begin(), guards.end(), [](const GuardRow& row) { return row.guard == "none"; })) return;
    const double lost = flips_in_1000_hours(all, fit) * fit.run_hours / 1000.0;  // share of time, if all flips ruin
    const base::Interval without = share_of(weighed(of_guard["none"], together), has_ruined, kind).percent_interval;
    for (GuardRow& row : guards) {
        if (row.guard == "none") continue;
        row.worth = "undecided";
        if (!row.cost_percent || !draw_from_the_same(of_guard["none"], of_guard[row.guard])) continue;
        const base::Interval cost = row.cost_percent->interval(0.95);
        const base::Interval with = share_of(weighed(of_guard[row.guard], together), has_ruined, kind).percent_interval;
        if (lost * (without.low - with.high) > cost.high) row.worth = "worth";
        if (lost * (without.high - with.low) < cost.low) row.worth = "not worth";
    }
}

// Population of a trial; trials that a guard repairs or rolls back have a separate one.
std::string per_guard(const ClassedTrial& one)
{
    return base::join(per_flips(one), "\n", is_left_to_itself(one) ? "" : one.trial.guard);
}

std::vector<double> weights_of(const std::vector<ClassedTrial>& trials)
{
    std::vector<const ClassedTrial*> drawn;
    for (const ClassedTrial& one : trials)
        if (is_trial(one)) drawn.push_back(&one);
    std::vector<double> weights(trials.size(), 1.0);
    for (const WeightedTrial& one : weighed(drawn, per_guard))
        weights[static_cast<std::size_t>(one.trial - trials.data())] = one.weight;
    return weights;
}

}  // namespace

OutcomeReport outcome_report(std::vector<TrialRun> runs, const Bands& bands, ProportionInterval interval,
                             const std::optional<ErrorRate>& fit)
{
    std::set<std::string> models;
    for (const TrialRun& run : runs) models.insert(run.model);
    OutcomeReport report;
    report.interval = interval;
    report.bands = bands;
    for (TrialRun& run : runs) {
        if (models.size() > 1) run.strategy += " of " + run.model;
        const std::vector<ClassedTrial> trials = classed(run, bands);
        for (const std::string& why : why_not_trustworthy(trials, bands))
            report.not_trustworthy.push_back(base::join(run.directory.string(), ": ", why));
        if (run.outcomes.size() < run.trials.size())
            report.not_trustworthy.push_back(base::join(run.directory.string(), ": only ", run.outcomes.size(), " of ",
                                                        run.trials.size(), " trials have ended"));
        std::vector<ClassedTrial>& all = run.noise.empty() ? report.trials : report.noisy;
        all.insert(all.end(), trials.begin(), trials.end());
        if (!run.noise.empty()) report.noise = run.noise;
    }
    report.weights = weights_of(report.trials);
    report.shares = class_shares(report.trials, interval);
    report.comparisons = comparisons_of(report.trials);
    std::set<std::string> guards;
    for (const ClassedTrial& one : report.trials) guards.insert(one.trial.guard);
    for (const std::string& guard : guards) report.guards.push_back(guard_row(report, guard, interval));
    if (fit) {
        report.ruined = ruined_runs(report.trials, *fit, interval);
        judge(report.guards, report.trials, *fit, interval);
    }
    return report;
}

}  // namespace analysis
