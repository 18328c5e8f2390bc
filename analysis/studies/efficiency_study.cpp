// SPDX-License-Identifier: Apache-2.0
#include "analysis/estimate/analyse.hpp"
#include "analysis/estimate/inference.hpp"
#include "analysis/studies/sets_study.hpp"
#include "base/random.hpp"

#include <algorithm>
#include <cmath>

namespace analysis {

namespace {

constexpr double rotation_s = 240.0;
constexpr double target_percent = 0.5;
constexpr int kinds_of_runs = 4;  // quiet, and each of three noises

// True effects of three noises, placebo, delay and sham.
const std::vector<double> rotated_percent{1.0, 2.0, 5.0, 0.0, 5.0, 0.0};

// Half width of the widest interval of the three noises, in percent.
double widest_of_rotation(base::Random& random)
{
    const Analysis analysis = analyse(designed_run(simulate(study_simulation(rotated_percent, rotation_s), random)),
                                      {.draws = {.count = 0}, .by_rank = false});
    double widest = 0.0;
    for (const char* noise : {"f0", "f1", "f2"})
        widest = std::max(
            widest,
            find(analysis.effects, noise, "", Kind::alone, "step")->percent.interval(study_confidence).half_width());
    return widest;
}

// Number of runs of each kind until the difference of two kinds has the target's half width; the variance is pooled
// over all kinds.
int runs_of_a_kind(double deviation_percent)
{
    int count = 2;
    while (t_quantile(study_confidence, kinds_of_runs * (count - 1.0)) * deviation_percent * std::sqrt(2.0 / count) >
           target_percent)
        ++count;
    return count;
}

}  // namespace

void study_of_efficiency(std::ostream& out, const Study& study)
{
    base::Random random{study.seed};
    double squares = 0.0;
    for (int repetition = 0; repetition < study.repetitions; ++repetition) {
        const double widest = widest_of_rotation(random);
        squares += widest * widest / study.repetitions;
    }
    const double rotation_minutes = rotation_s / 60.0 * squares / (target_percent * target_percent);
    tell_row(out, study, "rotation", 0.0, 0.0, 1, "minutes", rotation_minutes);
    for (const double varies : {1.0, 2.0, 5.0})
        for (const int run_s : {30, 120}) {
            const double minutes = kinds_of_runs * runs_of_a_kind(varies) * run_s / 60.0;
            tell_row(out, study, "separate", 0.0, varies, run_s, "minutes", minutes);
            tell_row(out, study, "separate", 0.0, varies, run_s, "times the rotation", minutes / rotation_minutes);
        }
}

}  // namespace analysis
