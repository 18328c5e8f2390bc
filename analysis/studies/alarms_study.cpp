// SPDX-License-Identifier: Apache-2.0
#include "analysis/estimate/analyse.hpp"
#include "analysis/estimate/sets/comparison.hpp"
#include "analysis/studies/sets_study.hpp"
#include "base/random.hpp"

#include <algorithm>
#include <cmath>

namespace analysis {

namespace {

constexpr double alarm_p = 0.05;
constexpr double alarm_run_s = 120.0;
constexpr Eigen::Index alarm_steps = 100;

// A run of two ranks with the same drift, each with its own random variation in each phase.
RunSteps run_of_two_ranks(base::Random& random)
{
    constexpr double level_deviation = 0.01;
    constexpr double phase_deviation = 0.05;
    RunSteps run;
    run.names = {"step", "compute", "exchange"};
    run.ms.resize(alarm_steps, 3);
    const double level = std::exp(level_deviation * base::draw_normal(random));
    for (int rank = 0; rank < 2; ++rank) {
        RankOfRun& of_rank = run.ranks.emplace_back(RankOfRun{.rank = rank, .ms = {}, .parts_ms = {}, .own_ms = {}});
        of_rank.ms.resize(alarm_steps, 3);
        const double share = 1.0 + level_deviation * base::draw_normal(random);  // relative computing time of the rank
        for (Eigen::Index step = 0; step < alarm_steps; ++step) {
            const double compute = 60.0 * level * share * (1.0 + phase_deviation * base::draw_normal(random));
            const double exchange = 40.0 * level * (1.0 + phase_deviation * base::draw_normal(random));
            of_rank.ms(step, 0) = compute + exchange;
            of_rank.ms(step, 1) = compute;
            of_rank.ms(step, 2) = exchange;
        }
    }
    for (Eigen::Index step = 0; step < alarm_steps; ++step) {
        run.numbers.push_back(step);
        for (Eigen::Index name = 0; name < 3; ++name)
            run.ms(step, name) = (run.ranks[0].ms(step, name) + run.ranks[1].ms(step, name)) / 2.0;
    }
    return run;
}

bool any_alarm_of_sets(int count, base::Random& random)
{
    std::vector<RunSteps> quiet;
    std::vector<RunSteps> noisy;
    for (int run = 0; run < count; ++run) {
        quiet.push_back(run_of_two_ranks(random));
        noisy.push_back(run_of_two_ranks(random));
    }
    const Comparison comparison = compare(std::move(quiet), std::move(noisy), 0, study_confidence);
    const auto alarms = [](const PhaseComparison& row) { return row.p_holm <= alarm_p; };
    return std::any_of(comparison.phases.begin(), comparison.phases.end(), alarms) ||
           std::any_of(comparison.by_rank.begin(), comparison.by_rank.end(), alarms);
}

bool any_alarm_of_run(base::Random& random)
{
    const std::vector<double> nothing(4, 0.0);
    const Analysis analysis = analyse(designed_run(simulate(study_simulation(nothing, alarm_run_s), random)),
                                      {.draws = {.count = 999, .seed = random()}, .by_rank = false});
    return std::any_of(analysis.effects.begin(), analysis.effects.end(),
                       [](const Effect& effect) { return effect.p_holm <= alarm_p; });
}

}  // namespace

void study_of_alarms(std::ostream& out, const Study& study)
{
    base::Random random{study.seed};
    for (const int count : {3, 5, 10}) {
        double alarms = 0.0;
        for (int repetition = 0; repetition < study.repetitions; ++repetition)
            alarms += any_alarm_of_sets(count, random) ? 1.0 : 0.0;
        tell_row(out, study, "sets", 0.0, 0.0, count, "any alarm after Holm", alarms / study.repetitions);
    }
    double alarms = 0.0;
    for (int repetition = 0; repetition < study.repetitions; ++repetition)
        alarms += any_alarm_of_run(random) ? 1.0 : 0.0;
    tell_row(out, study, "designed", 0.0, 0.0, 1, "any alarm after Holm", alarms / study.repetitions);
}

}  // namespace analysis
