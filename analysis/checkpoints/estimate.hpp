// SPDX-License-Identifier: Apache-2.0
// Estimates the cost of checkpoints, for each way of writing them and each noise, and how often to write them.
#pragma once

#include "analysis/checkpoints/input.hpp"
#include "analysis/checkpoints/interval.hpp"
#include "analysis/estimate/inference.hpp"

#include <optional>
#include <string>
#include <vector>

namespace analysis {

struct CheckpointQuestion {
    double mtbf_s = 0.0;
    std::optional<double> restart_s{};  // none: as measured, or else the time to read the bytes at the speed of writing
    std::optional<double> budget_percent{};  // acceptable share of time for checkpoints alone
};

// The steps during an asynchronous save against the steps right before and after it, under the same noise.
struct SaveAndSteps {
    std::size_t run = 0;  // index of the run, and of the save in it
    std::size_t save = 0;
    std::size_t during = 0;  // number of steps
    std::size_t beside = 0;
    double during_ms = 0.0;  // mean
    double beside_ms = 0.0;
    std::string left_out;  // why there is no such pair; empty if there is

    double percent() const { return 100.0 * (during_ms / beside_ms - 1.0); }
    double extra_s() const { return (during_ms - beside_ms) * static_cast<double>(during) / 1e3; }
};

// A mean of saves. With one value there is no interval, and degrees_of_freedom is 0.
std::optional<Interval> interval_of(const Mean& mean);

struct CostCurvePoint {
    double interval_s = 0.0;
    LostShares lost;
};

// The saves of one setting under one noise.
struct CheckpointGroup {
    CheckpointSetting setting;
    NoiseState noise;
    std::size_t saves = 0;
    Mean stall_s;
    double copy_s = 0.0;  // means
    double write_s = 0.0;
    double sync_s = 0.0;
    double bytes = 0.0;
    std::optional<double> bytes_per_s;  // bytes over time of write and sync
    std::optional<double> bytes_per_parameter;
    std::optional<double> time_percent;   // share of the time under this noise that the stalls take
    std::optional<double> epoch_percent;  // one stall in percent of an epoch

    std::size_t pairs = 0;                // saves with steps during and beside them
    std::optional<Mean> between_percent;  // slowdown of the steps between saves; none for sync, or without pairs
    std::optional<Mean> between_s;        // their extra time for each save
    bool by_design = false;               // both are of randomised slots, not of pairs

    Mean cost_s;  // time that a checkpoint adds to the training: stall, and extra time of the steps between
    CheckpointCosts costs;
    std::string restart_by;  // where costs.restart_s comes from: one of the words below
    // None if the cost is not above zero, and for several noises.
    std::optional<double> young_s;
    std::optional<double> daly_s;
    std::optional<Interval> daly_interval;  // from the interval of the cost
    std::optional<double> budget_s;         // the shortest interval within the budget
};

namespace restart_word {
inline constexpr const char* given = "given";
inline constexpr const char* measured = "restarts";              // under the same noise
inline constexpr const char* measured_quiet = "quiet restarts";  // in quiet, as there is none under that noise
inline constexpr const char* bytes = "bytes";                    // no restart: time to read them as fast as written
}  // namespace restart_word

// The restarts from checkpoints of one setting under one noise.
struct RestartGroup {
    CheckpointSetting setting;  // without mode and fsync
    NoiseState noise;
    std::size_t restarts = 0;
    Mean s;
    double verify_s = 0.0;  // means
    double read_s = 0.0;
    double bytes = 0.0;
};

struct CheckpointReport {
    CheckpointQuestion question;
    std::vector<CheckpointRun> runs;
    std::vector<SaveAndSteps> pairs;      // one for each asynchronous save
    std::vector<CheckpointGroup> groups;  // by setting; quiet first, then by noise
    std::vector<RestartGroup> restarts;   // in the same order
    std::vector<std::string> notes;
};

// Throws Error if no run has a checkpoint.
CheckpointReport checkpoint_report(std::vector<CheckpointRun> runs, const CheckpointQuestion& question);

// The expected cost of the group's intervals from an eighth to eight times the recommended one.
std::vector<CostCurvePoint> cost_curve(const CheckpointGroup& group);

}  // namespace analysis
