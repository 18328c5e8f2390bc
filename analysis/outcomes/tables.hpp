// SPDX-License-Identifier: Apache-2.0
// Contents of a report on trials of soft errors.
#pragma once

#include "analysis/outcomes/classes.hpp"

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace analysis {

// Two strategies on the same trials: those that ruin the training with one alone.
struct StrategyComparison {
    std::string first;
    std::string second;
    std::string target;
    std::int64_t pairs = 0;
    std::int64_t only_first = 0;  // ruined
    std::int64_t only_second = 0;
    double p = 1.0;                                  // McNemar's exact test
    std::optional<std::int64_t> least_difference{};  // of only_first and only_second, that these pairs could show
};

// A guard beside none on its trials.
struct GuardRow {
    std::string guard;
    ClassShare ruined;                                 // of trials of kind trial; each bit counts as much
    ClassShare caught;                                 // likewise
    ClassShare false_alarms;                           // of null trials
    std::optional<double> latency{};                   // steps until caught, mean
    std::optional<base::Interval> latency_interval{};  // 95 %, from Student's t; of one trial none
    // Time of null trials beside those without a guard, in quiet and in runs with noise beside them.
    std::optional<base::Mean> cost_percent{};
    std::optional<base::Mean> noisy_cost_percent{};
    std::string worth;  // worth, not worth, undecided; empty without --fit
};

// The rate of bit errors, and what a ruined run costs.
struct ErrorRate {
    double per_mbit = 0.0;    // failures in 1e9 hours and 2^20 bits
    double run_hours = 24.0;  // lost with a run that is ruined
};

struct RuinedRuns {
    std::string strategy;
    std::string target;
    double flips = 0.0;  // expected in 1,000 node hours
    double ruined = 0.0;
    base::Interval interval;
};

struct OutcomeReport {
    std::vector<ClassedTrial> trials;  // in quiet
    std::vector<double> weights;       // of each: in shares of its target and number of flips; other kinds have 1
    std::vector<ClassedTrial> noisy;   // of runs with noise beside them: their null trials price guards, no more
    std::string noise;                 // beside them
    std::vector<ClassShare> shares;
    std::vector<std::string> not_trustworthy;  // why
    Bands bands;
    std::vector<StrategyComparison> comparisons;
    std::vector<GuardRow> guards;
    std::vector<RuinedRuns> ruined;  // with --fit
    ProportionInterval interval = ProportionInterval::wilson;
};

// Outcomes of these runs; with several models each strategy is called "ddp of mlp".
OutcomeReport outcome_report(std::vector<TrialRun> runs, const Bands& bands, ProportionInterval interval,
                             const std::optional<ErrorRate>& fit);

// classes.csv, trials.csv, bit_map, layer_map and layer_step_map as .csv and .svg, strategies.csv, guards.csv,
// ruined.csv, bands.csv, stored as .csv, .gp and .svg, index.html. Throws std::system_error.
void write_outcomes(const std::filesystem::path& directory, const OutcomeReport& report);
void print_outcomes(std::ostream& out, const OutcomeReport& report);

}  // namespace analysis
