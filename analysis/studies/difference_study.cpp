// SPDX-License-Identifier: Apache-2.0
#include "analysis/studies/difference_study.hpp"

#include "analysis/estimate/analyse.hpp"
#include "analysis/estimate/difference.hpp"
#include "analysis/estimate/random_effects.hpp"
#include "base/error.hpp"
#include "base/random.hpp"

namespace analysis {

namespace {

const std::vector<double> effects_before{0.0, 1.0, 5.0, 20.0};
const std::vector<double> effects_after{0.0, 3.0, 5.0, 10.0};

// Runs whose true effects are drawn around given ones.
struct DrawnSide {
    std::vector<double> truths;        // [noise]: true effect of the run, or mean of all such runs
    std::vector<Estimated> estimates;  // [noise]
};

Estimated estimated(const Mean& mean)
{
    return {.value = mean.value,
            .interval = mean.interval(study_confidence),
            .standard_error = mean.standard_error,
            .degrees_of_freedom = mean.degrees_of_freedom};
}

DrawnSide drawn_side(const std::vector<double>& effects, int count, double varies, base::Random& random)
{
    DrawnSide side{effects, {}};
    std::vector<std::vector<Mean>> means(effects.size());
    for (int run = 0; run < count; ++run) {
        std::vector<double> truths = effects;
        for (double& truth : truths) truth *= 1.0 + varies * base::draw_normal(random);
        if (count == 1) side.truths = truths;
        const Analysis analysis = analyse(designed_run(simulate(study_simulation(truths, 60.0), random)),
                                          {.draws = {.count = 0}, .by_rank = false, .looks = Looks::none});
        for (std::size_t f = 0; f < effects.size(); ++f)
            means[f].push_back(find(analysis.effects, base::join("f", f), "", Kind::alone, "step")->percent);
    }
    for (const std::vector<Mean>& runs : means)
        side.estimates.push_back(estimated(count == 1 ? runs.front() : random_effects(runs).mean));
    return side;
}

}  // namespace

void study_of_differences(std::ostream& out, const Study& study)
{
    base::Random random{study.seed};
    const std::size_t noises = effects_before.size();
    for (const int count : {1, 3})
        for (const double varies : {0.01, 0.25}) {
            std::vector<double> covered(noises, 0.0);
            double alarms = 0.0;
            for (int repetition = 0; repetition < study.repetitions; ++repetition) {
                const DrawnSide before = drawn_side(effects_before, count, varies, random);
                const DrawnSide after = drawn_side(effects_after, count, varies, random);
                std::vector<double> p;
                for (std::size_t f = 0; f < noises; ++f) {
                    const EstimatedDifference found =
                        difference(before.estimates[f], after.estimates[f], study_confidence);
                    covered[f] += found.interval.contains(after.truths[f] - before.truths[f]) ? 1.0 : 0.0;
                    p.push_back(found.p);
                }
                const std::vector<double> adjusted = holm(p);
                bool any = false;
                for (std::size_t f = 0; f < noises; ++f)
                    any = any || (before.truths[f] == after.truths[f] && adjusted[f] <= 1.0 - study_confidence);
                alarms += any ? 1.0 : 0.0;
            }
            for (std::size_t f = 0; f < noises; ++f)
                tell_row(out, study, "difference", effects_after[f] - effects_before[f], 100.0 * varies, count,
                         "coverage of the difference", covered[f] / study.repetitions);
            tell_row(out, study, "difference", 0.0, 100.0 * varies, count, "any false alarm",
                     alarms / study.repetitions);
        }
}

}  // namespace analysis
