// SPDX-License-Identifier: Apache-2.0
// effects-simulation: checks by seeded simulated runs how well the estimator recovers known effects.
#include "analysis/estimate/analyse.hpp"
#include "analysis/estimate/simulation.hpp"
#include "analysis/studies/difference_study.hpp"
#include "analysis/studies/response_and_carry_over_studies.hpp"
#include "analysis/studies/sets_study.hpp"
#include "analysis/studies/studies.hpp"
#include "base/cli/options.hpp"
#include "base/cli/progress.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <memory>

namespace {

struct Condition {
    std::vector<double> effects_percent;  // the first is the placebo
    double deviation;
    double autocorrelation;
};

const std::vector<Condition> conditions{
    {{0.0, 0.0, 1.0, 3.0}, 0.03, 0.3},     {{0.0, 0.0, 1.0, 3.0}, 0.06, 0.5},    {{0.0, 30.0, 50.0, 100.0}, 0.03, 0.3},
    {{0.0, 30.0, 50.0, 100.0}, 0.06, 0.5}, {{0.0, 1.0, 30.0, 100.0}, 0.15, 0.8},
};

struct Tally {
    double truth = 0.0;
    double sum = 0.0;
    double squares = 0.0;
    double covered = 0.0;
    double half_width = 0.0;
    double p_alarms = 0.0;
    double runs = 0.0;
};

std::vector<Tally> tally(const Condition& condition, int runs, int draws, base::Random& random,
                         base::Progress& progress, double from, double share)
{
    const analysis::Simulation what{.effects_percent = condition.effects_percent,
                                    .deviation = condition.deviation,
                                    .autocorrelation = condition.autocorrelation};
    analysis::Rules rules;
    rules.by_rank = false;
    rules.draws.count = draws;
    std::vector<Tally> tallies(condition.effects_percent.size());
    for (int run = 0; run < runs; ++run) {
        analysis::SimulatedRun simulated = analysis::simulate(what, random);
        analysis::DesignedRun designed;
        designed.plan = analysis::experiment(analysis::Design::rotation, simulated.slots);
        designed.steps = std::move(simulated.steps);
        designed.slots.push_back(std::move(simulated.slots));
        rules.draws.seed = random();
        const analysis::Analysis result = analysis::analyse(designed, rules);
        for (std::size_t f = 0; f < tallies.size(); ++f) {
            const analysis::Effect* effect =
                analysis::find(result.effects, base::join("f", f), "", analysis::Kind::alone, "step");
            const analysis::Interval interval = effect->percent.interval(0.95);
            Tally& of = tallies[f];
            of.truth = condition.effects_percent[f];
            of.sum += effect->percent.value;
            of.squares += effect->percent.value * effect->percent.value;
            of.covered += interval.contains(of.truth) ? 1.0 : 0.0;
            of.half_width += interval.half_width();
            of.p_alarms += effect->p <= 0.05 ? 1.0 : 0.0;
            of.runs += 1.0;
        }
        progress.show(from + share * (run + 1.0) / runs, base::join("run ", run + 1, " of ", runs));
    }
    return tallies;
}

int simulate_study(const std::string& study, int runs, std::uint64_t seed, const std::string& csv)
{
    std::unique_ptr<base::CsvWriter> table;
    if (!csv.empty()) table = std::make_unique<base::CsvWriter>(csv, analysis::study_columns);
    const analysis::Study what{.repetitions = runs, .seed = seed, .csv = table.get()};
    if (study == "pooled") study_of_pooled(std::cout, what);
    if (study == "extended") study_of_extended(std::cout, what);
    if (study == "looking") study_of_looking(std::cout, what);
    if (study == "response") study_of_response(std::cout, what);
    if (study == "carry-over") study_of_carry_over(std::cout, what);
    if (study == "sets") study_of_sets(std::cout, what);
    if (study == "differences") study_of_differences(std::cout, what);
    if (study == "alarms") study_of_alarms(std::cout, what);
    if (study == "efficiency") study_of_efficiency(std::cout, what);
    return base::exit_fine;
}

}  // namespace

int main(int argc, char** argv)
try {
    int runs = 200;
    int draws = 999;
    std::uint64_t seed = 1;
    std::string csv;
    std::string study = "effects";
    base::Options options{
        "effects-simulation",
        "simulates how well the estimator recovers known effects (rotation of four factors, the first a placebo; "
        "120 s, slots of 1 s, steps of 100 ms)"};
    options.add_choice(
        "study", study,
        {"effects", "pooled", "extended", "looking", "sets", "differences", "response", "carry-over", "alarms",
         "efficiency"},
        "what is simulated: single runs; sets of runs that differ; runs in parts that differ; runs that "
        "end when all is decided; quiet and noisy runs compared; runs before and after a change; a noise at eight levels; noises that leave something "
        "behind; runs without any effect; machine time of a rotation and of separate runs. Other than effects with 30 % of drift and stalls of the host");
    options.add("runs", runs, "simulated runs of each condition", "NUMBER");
    options.add("draws", draws, "draws of each re-randomisation test", "NUMBER");
    options.add("seed", seed, "seed of the simulation", "NUMBER");
    options.add("csv", csv, "also write the table to this file", "FILE");
    options.example("effects-simulation --runs 2000 --csv simulation.csv");
    options.example("effects-simulation --study looking --runs 1000");
    if (!options.parse(argc, argv)) return base::exit_fine;
    if (runs < 2) base::fail_usage("--runs must be at least 2");

    if (study != "effects") return simulate_study(study, runs, seed, csv);
    std::unique_ptr<base::CsvWriter> table;
    if (!csv.empty())
        table = std::make_unique<base::CsvWriter>(
            csv, std::vector<std::string>{"deviation_percent", "autocorrelation", "true_percent", "mean_percent",
                                          "standard_error_percent", "coverage_95", "half_width_percent", "rejected_p05",
                                          "runs", "seed"});
    base::Random random{seed};
    base::Progress progress{"effects-simulation"};
    std::cout << "  noise  autocorr.   truth %   mean %  +- its error  coverage of 95 %  half width  p <= 0.05\n"
              << std::fixed;
    for (std::size_t c = 0; c < conditions.size(); ++c) {
        const Condition& condition = conditions[c];
        const auto count = static_cast<double>(conditions.size());
        for (const Tally& of :
             tally(condition, runs, draws, random, progress, static_cast<double>(c) / count, 1.0 / count)) {
            const double mean = of.sum / of.runs;
            const double error = std::sqrt(std::max(0.0, of.squares / of.runs - mean * mean) / (of.runs - 1.0));
            std::cout << std::setprecision(0) << std::setw(5) << 100.0 * condition.deviation << " %"
                      << std::setprecision(1) << std::setw(11) << condition.autocorrelation << std::setw(10) << of.truth
                      << std::setprecision(3) << std::setw(9) << mean << std::setw(14) << error << std::setw(18)
                      << of.covered / of.runs << std::setprecision(2) << std::setw(12) << of.half_width / of.runs
                      << std::setprecision(3) << std::setw(11) << of.p_alarms / of.runs << "\n";
            if (table)
                table->row(100.0 * condition.deviation, condition.autocorrelation, of.truth, mean, error,
                           of.covered / of.runs, of.half_width / of.runs, of.p_alarms / of.runs, runs, seed);
        }
    }
} catch (...) {
    return base::report_failure("effects-simulation");
}
