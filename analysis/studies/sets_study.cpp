// SPDX-License-Identifier: Apache-2.0
#include "analysis/studies/sets_study.hpp"

#include "analysis/estimate/sets/comparison.hpp"
#include "analysis/estimate/simulation.hpp"
#include "base/random.hpp"

#include <cmath>
#include <iomanip>
#include <numbers>

namespace analysis {

namespace {

constexpr int steps_of_run = 300;
constexpr double quiet_step_ms = 100.0;
constexpr double step_deviation = 0.03;
constexpr double step_autocorrelation = 0.3;
constexpr double drift_of_run = 0.3;
constexpr double level_deviation = 0.01;
constexpr double stall_length_ms = 20.0;
constexpr double stalls_per_ms = 0.01 / stall_length_ms;

RunSteps run_of(double slowdown, base::Random& random)
{
    RunSteps run;
    run.names = {"step"};
    run.ms.resize(steps_of_run, 1);
    const double level = quiet_step_ms * slowdown * std::exp(level_deviation * base::draw_normal(random));
    const double phase = 2.0 * std::numbers::pi * base::draw_unit(random);
    const double innovation = std::sqrt(1.0 - step_autocorrelation * step_autocorrelation);
    double deviation = base::draw_normal(random);
    for (int step = 0; step < steps_of_run; ++step) {
        run.numbers.push_back(step);
        const double drift = drift_of_run / 2.0 * std::sin(phase + std::numbers::pi * step / steps_of_run);
        const double ms = level * (1.0 + drift) * (1.0 + step_deviation * deviation);
        deviation = step_autocorrelation * deviation + innovation * base::draw_normal(random);
        const bool stalled = base::draw_unit(random) < ms * stalls_per_ms;
        run.ms(step, 0) = ms + (stalled ? stall_length_ms : 0.0);
    }
    return run;
}

}  // namespace

void study_of_sets(std::ostream& out, const Study& study)
{
    base::Random random{study.seed};
    for (const int count : {3, 5, 10})
        for (const double varies : {0.01, 0.25})
            for (const double effect : {0.0, 1.0, 5.0, 20.0}) {
                int covered = 0;
                double half_width = 0.0;
                for (int repetition = 0; repetition < study.repetitions; ++repetition) {
                    std::vector<RunSteps> quiet;
                    std::vector<RunSteps> noisy;
                    for (int run = 0; run < count; ++run) {
                        quiet.push_back(run_of(1.0, random));
                        noisy.push_back(
                            run_of(1.0 + effect / 100.0 * (1.0 + varies * base::draw_normal(random)), random));
                    }
                    const Interval interval = compare(quiet, noisy, 0, 0.95).phases.front().interval;
                    covered += interval.contains(effect) ? 1 : 0;
                    half_width += interval.half_width() / study.repetitions;
                }
                const auto tell = [&](const char* quantity, double value) {
                    out << "sets " << std::fixed << std::setprecision(1) << std::setw(12) << effect << " % +- "
                        << std::setw(4) << 100.0 * varies << " %" << std::setw(5) << count << "  " << std::left
                        << std::setw(42) << quantity << std::right << std::setprecision(3) << std::setw(8) << value
                        << std::endl;
                    if (study.csv != nullptr)
                        study.csv->row("sets", effect, 100.0 * varies, count, quantity, value, study.repetitions,
                                       study.seed);
                };
                tell("coverage of the mean", static_cast<double>(covered) / study.repetitions);
                tell("half width, percent", half_width);
            }
}

}  // namespace analysis
