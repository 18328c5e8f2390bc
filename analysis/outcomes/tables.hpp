// SPDX-License-Identifier: Apache-2.0
// The contents of a report on soft-error trials.
#pragma once

#include "analysis/outcomes/classes.hpp"

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace analysis {

// Compares two strategies on the same trials, by the trials that ruin the training with only one of them.
struct StrategyComparison {
    std::string first;
    std::string second;
    std::string target;
    std::int64_t pairs = 0;
    std::int64_t only_first = 0;  // number of trials ruined with `first` only
    std::int64_t only_second = 0;
    double p = 1.0;                                  // McNemar's exact test
    std::optional<std::int64_t> least_difference{};  // smallest difference that these pairs could show
};

// Compares a guard with no guard on the guard's trials.
struct GuardRow {
    std::string guard;
    ClassShare ruined;                                 // of trials of kind trial; each bit has the same weight
    ClassShare caught;                                 // of trials of kind trial; each bit has the same weight
    ClassShare false_alarms;                           // share of null trials in which it caught something
    std::optional<double> latency{};                   // mean number of steps until a flip was caught
    std::optional<base::Interval> latency_interval{};  // 95 %, Student's t; none for a single trial
    // Additional time of null trials with the guard over those without: in quiet, and in runs with noise.
    std::optional<base::Mean> cost_percent{};
    std::optional<base::Mean> noisy_cost_percent{};
    std::string worth;  // worth, not worth, undecided; empty without --fit
};

// The rate of bit errors, and the cost of a ruined run.
struct ErrorRate {
    double per_mbit = 0.0;    // failures per 1e9 hours and 2^20 bits
    double run_hours = 24.0;  // hours lost with a ruined run
};

struct RuinedRuns {
    std::string strategy;
    std::string target;
    double flips = 0.0;  // expected number in 1,000 node hours
    double ruined = 0.0;
    base::Interval interval;
};

struct OutcomeReport {
    std::vector<ClassedTrial> trials;  // trials without noise
    std::vector<double> weights;       // [trial]: weight in shares of its target and number of flips; 1 for other kinds
    std::vector<ClassedTrial> noisy;   // trials with noise; only null trials are used, for guard costs
    std::string noise;                 // the noise of `noisy`
    std::vector<ClassShare> shares;
    std::vector<std::string> not_trustworthy;  // reasons why the trials cannot be trusted
    Bands bands;
    std::vector<StrategyComparison> comparisons;
    std::vector<GuardRow> guards;
    std::vector<RuinedRuns> ruined;  // with --fit
    ProportionInterval interval = ProportionInterval::wilson;
};

// Makes the report on these runs. With several models, strategies are named like "ddp of mlp".
OutcomeReport outcome_report(std::vector<TrialRun> runs, const Bands& bands, ProportionInterval interval,
                             const std::optional<ErrorRate>& fit);

// Writes classes.csv, trials.csv; bit_map, layer_map and layer_step_map as .csv and .svg; strategies.csv, guards.csv,
// ruined.csv, bands.csv; stored as .csv, .gp and .svg; index.html. Throws std::system_error.
void write_outcomes(const std::filesystem::path& directory, const OutcomeReport& report);
void print_outcomes(std::ostream& out, const OutcomeReport& report);

}  // namespace analysis
