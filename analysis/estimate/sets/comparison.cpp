// SPDX-License-Identifier: Apache-2.0
#include "analysis/estimate/sets/comparison.hpp"

#include "analysis/estimate/sets/alignment.hpp"
#include "analysis/input/step_work/numbered_rows.hpp"
#include "base/error.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace analysis {

namespace {

using Runs = std::vector<RunSteps>;
using Rows = base::LongColumn<std::size_t>;

// Both sets, and for each run the indices of the steps that all runs have.
struct Sets {
    const Runs& quiet;
    const Runs& noisy;
    std::vector<Rows> quiet_rows;
    std::vector<Rows> noisy_rows;
    double confidence = 0.95;
    double quiet_step_ms = 0.0;
};

CommonSteps common_of(const Runs& quiet, const Runs& noisy, std::int64_t warm_up)
{
    const auto first = static_cast<std::size_t>(
        std::max<std::int64_t>(warm_up, 0));  // index of the first step that is used in each run
    std::vector<base::LongColumn<NumberedRow>> runs;
    for (const Runs* set : {&quiet, &noisy})
        for (const RunSteps& run : *set) {
            base::LongColumn<NumberedRow>& rows = runs.emplace_back();
            for (std::size_t row = first; row < run.numbers.size(); ++row) rows.push_back({run.numbers[row], row});
        }
    return common_steps(runs);
}

// Mean of one column over these rows; zero if the run has no such column.
double column_mean(const LongTable& values, const std::vector<std::string>& names, const std::string& name,
                   const Rows& rows)
{
    const auto found = std::find(names.begin(), names.end(), name);
    const auto column = static_cast<Eigen::Index>(found - names.begin());
    if (found == names.end() || column >= values.cols()) return 0.0;
    double sum = 0.0;
    for (const std::size_t row : rows) sum += values(static_cast<Eigen::Index>(row), column);
    return sum / static_cast<double>(rows.size());
}

// [run]: its mean over its rows, by the function `mean`.
template <class MeanOfRun>
Eigen::VectorXd run_means(const Runs& runs, const std::vector<Rows>& rows, MeanOfRun mean)
{
    Eigen::VectorXd means(static_cast<Eigen::Index>(runs.size()));
    for (std::size_t r = 0; r < runs.size(); ++r) means[static_cast<Eigen::Index>(r)] = mean(runs[r], rows[r]);
    return means;
}

// Names in any run, in order of first appearance. A run without a name counts as having no time in it.
std::vector<std::string> names_of_all(const Sets& sets, std::vector<std::string> RunSteps::*member)
{
    std::vector<std::string> names;
    for (const Runs* set : {&sets.quiet, &sets.noisy})
        for (const RunSteps& run : *set)
            for (const std::string& name : run.*member)
                if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    return names;
}

base::LongColumn<double> step_means(const Runs& runs, const std::vector<Rows>& rows)
{
    base::LongColumn<double> means;
    for (std::size_t i = 0; i < rows.front().size(); ++i) {
        double mean = 0.0;
        for (std::size_t r = 0; r < runs.size(); ++r)
            mean += runs[r].ms(static_cast<Eigen::Index>(rows[r][i]), 0) / static_cast<double>(runs.size());
        means.push_back(mean);
    }
    return means;
}

// Half width of the interval that this number of runs would have if all were like the quiet runs.
double floor_of(const Eigen::VectorXd& quiet, Eigen::Index noisy_runs, double confidence)
{
    const Mean one = mean_of(quiet);
    const auto runs = static_cast<double>(quiet.size());
    const double deviation = one.standard_error * std::sqrt(runs);
    const double error = deviation * std::sqrt(1.0 / runs + 1.0 / static_cast<double>(noisy_runs));
    return t_quantile(confidence, one.degrees_of_freedom) * error;
}

double as_percent(double log_ratio)
{
    return 100.0 * std::expm1(log_ratio);
}

PhaseComparison compare_step(const Eigen::VectorXd& quiet, const Eigen::VectorXd& noisy, double confidence)
{
    const Eigen::VectorXd quiet_logs = quiet.array().log();
    const Eigen::VectorXd noisy_logs = noisy.array().log();
    const Mean difference = welch(quiet_logs, noisy_logs);
    const Interval logs = difference.interval(confidence);
    PhaseComparison found;
    found.phase = "step";
    found.quiet_ms = quiet.mean();
    found.noisy_ms = noisy.mean();
    found.percent = as_percent(difference.value);
    found.interval = {as_percent(logs.low), as_percent(logs.high)};
    found.p_welch = difference.p_value();
    found.p_mann_whitney = mann_whitney_p(quiet, noisy);
    found.shift_percent = as_percent(hodges_lehmann(quiet_logs, noisy_logs));
    found.floor_percent = as_percent(floor_of(quiet_logs, noisy.size(), confidence));
    return found;
}

PhaseComparison compare_phase(const std::string& phase, const Eigen::VectorXd& quiet, const Eigen::VectorXd& noisy,
                              const Sets& sets)
{
    const double scale = 100.0 / sets.quiet_step_ms;
    const Mean difference = welch(quiet * scale, noisy * scale);
    PhaseComparison found;
    found.phase = phase;
    found.quiet_ms = quiet.mean();
    found.noisy_ms = noisy.mean();
    found.percent = difference.value;
    found.interval = difference.interval(sets.confidence);
    found.p_welch = difference.p_value();
    found.p_mann_whitney = mann_whitney_p(quiet, noisy);
    found.shift_percent = hodges_lehmann(quiet, noisy) * scale;
    found.floor_percent = floor_of(quiet * scale, noisy.size(), sets.confidence);
    return found;
}

// A column of a rank's table: its mean in each quiet run, and in each noisy run.
std::pair<Eigen::VectorXd, Eigen::VectorXd> of_rank(const Sets& sets, std::size_t rank, LongTable RankOfRun::*table,
                                                    const std::vector<std::string>* fixed_names,
                                                    std::vector<std::string> RunSteps::*names, const std::string& name)
{
    const auto mean = [&](const RunSteps& run, const Rows& rows) {
        return column_mean(run.ranks[rank].*table, fixed_names != nullptr ? *fixed_names : run.*names, name, rows);
    };
    return {run_means(sets.quiet, sets.quiet_rows, mean), run_means(sets.noisy, sets.noisy_rows, mean)};
}

bool all_have(const Sets& sets, LongTable RankOfRun::*table)
{
    const auto has = [&](const RunSteps& run) {
        return !run.ranks.empty() && run.ranks.size() == sets.quiet.front().ranks.size() &&
               std::all_of(run.ranks.begin(), run.ranks.end(),
                           [&](const RankOfRun& rank) { return !(rank.*table).empty(); });
    };
    return std::all_of(sets.quiet.begin(), sets.quiet.end(), has) &&
           std::all_of(sets.noisy.begin(), sets.noisy.end(), has);
}

void compare_ranks(const Sets& sets, Comparison& comparison)
{
    const std::vector<RankOfRun>& ranks = sets.quiet.front().ranks;
    if (!all_have(sets, &RankOfRun::ms)) return;
    const std::vector<std::string> phases = names_of_all(sets, &RunSteps::names);
    std::vector<PhaseOfRuns> of_phases;
    for (const std::string& phase : phases) of_phases.push_back({phase, {}, {}});
    for (std::size_t r = 0; r < ranks.size(); ++r)
        for (std::size_t p = 0; p < phases.size(); ++p) {
            const auto [quiet, noisy] = of_rank(sets, r, &RankOfRun::ms, nullptr, &RunSteps::names, phases[p]);
            PhaseComparison row = phases[p] == "step" ? compare_step(quiet, noisy, sets.confidence)
                                                      : compare_phase(phases[p], quiet, noisy, sets);
            row.rank = ranks[r].rank;
            if (ranks.size() > 1) comparison.by_rank.push_back(row);
            of_phases[p].quiet.push_back(quiet);
            of_phases[p].noisy.push_back(noisy);
        }
    std::erase_if(of_phases, [](const PhaseOfRuns& phase) { return phase.phase == "step"; });
    comparison.resilience = resilience(of_phases);
}

void compare_work(const Sets& sets, Comparison& comparison)
{
    if (!all_have(sets, &RankOfRun::parts_ms)) return;
    const std::vector<std::string> part_list{part_names.begin(), part_names.end()};
    const std::vector<std::string> regions = names_of_all(sets, &RunSteps::regions);
    const std::vector<RankOfRun>& ranks = sets.quiet.front().ranks;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
        for (const std::string& part : part_list) {
            const auto [quiet, noisy] = of_rank(sets, r, &RankOfRun::parts_ms, &part_list, nullptr, part);
            comparison.parts.push_back(compare_phase(part, quiet, noisy, sets));
            comparison.parts.back().rank = ranks[r].rank;
        }
        for (const std::string& region : regions) {
            const auto [quiet, noisy] = of_rank(sets, r, &RankOfRun::own_ms, nullptr, &RunSteps::regions, region);
            comparison.own.push_back(compare_phase(region, quiet, noisy, sets));
            comparison.own.back().rank = ranks[r].rank;
        }
        bool known = true;
        const auto cpu_ms = [&](const RunSteps& run, const Rows& rows) {
            known = known && run.ranks[r].cpu_share >= 0.0;
            return run.ranks[r].cpu_share * column_mean(run.ranks[r].ms, run.names, "step", rows);
        };
        const double grown = run_means(sets.noisy, sets.noisy_rows, cpu_ms).mean() -
                             run_means(sets.quiet, sets.quiet_rows, cpu_ms).mean();
        comparison.cpu_percent.push_back(known ? std::optional{100.0 * grown / sets.quiet_step_ms} : std::nullopt);
    }
}

// Corrects p-values over the step and phases, of the job and of each rank.
void correct(Comparison& comparison)
{
    std::vector<PhaseComparison*> rows;
    for (std::vector<PhaseComparison>* table : {&comparison.phases, &comparison.by_rank})
        for (PhaseComparison& row : *table) rows.push_back(&row);
    std::vector<double> p;
    for (const PhaseComparison* row : rows) p.push_back(row->p_welch);
    const std::vector<double> by_holm = holm(p);
    const std::vector<double> by_bh = benjamini_hochberg(p);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows[i]->p_holm = by_holm[i];
        rows[i]->p_bh = by_bh[i];
    }
}

}  // namespace

Comparison compare(Runs quiet, Runs noisy, std::int64_t warm_up_steps, double confidence)
{
    if (quiet.size() < 2 || noisy.size() < 2)
        base::fail_usage("compare needs at least two runs on each side, because the run is the unit (given: ",
                         quiet.size(), " quiet, ", noisy.size(), " noisy)");
    Comparison comparison;
    comparison.confidence = confidence;
    comparison.aligned_by = align(quiet, noisy);
    CommonSteps common = common_of(quiet, noisy, warm_up_steps);
    if (common.numbers.empty()) base::fail("the runs have no step in common after the first ", warm_up_steps);
    comparison.numbers = std::move(common.numbers);
    const auto first_noisy = std::make_move_iterator(common.rows.begin() + static_cast<std::ptrdiff_t>(quiet.size()));
    Sets sets{.quiet = quiet,
              .noisy = noisy,
              .quiet_rows = {std::make_move_iterator(common.rows.begin()), first_noisy},
              .noisy_rows = {first_noisy, std::make_move_iterator(common.rows.end())},
              .confidence = confidence,
              .quiet_step_ms = 0.0};
    const auto of_job = [&](const std::string& name) {
        const auto mean = [&](const RunSteps& run, const Rows& rows) {
            return column_mean(run.ms, run.names, name, rows);
        };
        return std::pair{run_means(quiet, sets.quiet_rows, mean), run_means(noisy, sets.noisy_rows, mean)};
    };
    const auto [quiet_steps, noisy_steps] = of_job("step");
    sets.quiet_step_ms = quiet_steps.mean();
    comparison.quiet_means_ms = {quiet_steps.begin(), quiet_steps.end()};
    comparison.noisy_means_ms = {noisy_steps.begin(), noisy_steps.end()};
    comparison.quiet_by_step_ms = step_means(quiet, sets.quiet_rows);
    comparison.noisy_by_step_ms = step_means(noisy, sets.noisy_rows);
    comparison.phases.push_back(compare_step(quiet_steps, noisy_steps, confidence));
    comparison.floor_percent = comparison.phases.front().floor_percent;
    for (const std::string& phase : names_of_all(sets, &RunSteps::names)) {
        if (phase == "step") continue;
        const auto [quiet_phase, noisy_phase] = of_job(phase);
        comparison.phases.push_back(compare_phase(phase, quiet_phase, noisy_phase, sets));
    }
    compare_ranks(sets, comparison);
    compare_work(sets, comparison);
    correct(comparison);
    return comparison;
}

}  // namespace analysis
