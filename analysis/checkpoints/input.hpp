// SPDX-License-Identifier: Apache-2.0
// The checkpoints of a run: what each save took, under which noise, and the steps beside it.
#pragma once

#include "analysis/estimate/inference.hpp"
#include "base/columns/long_column.hpp"

#include <compare>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace analysis {

struct CheckpointFiles {
    std::string name;                // the run's directory as the user named it
    std::filesystem::path saves;     // train/checkpoints.csv
    std::filesystem::path restarts;  // train/restarts.csv
    std::filesystem::path train;
    std::vector<std::filesystem::path> noise;
};

// Files of the runs in these directories and of their added parts. Throws Error for a directory that holds no run.
std::vector<CheckpointFiles> checkpoint_files(const std::vector<std::string>& directories);

// How a checkpoint is written.
struct CheckpointSetting {
    std::string format;
    std::string content;
    std::string by;
    std::string mode;
    bool fsync = false;
    int ranks = 0;      // of the training
    std::string model;  // of ddl-train; empty for other trainings
    std::string compress{};

    auto operator<=>(const CheckpointSetting&) const = default;
    bool is_async() const { return mode == "async"; }
};

// The noise during a span of time, by the job's slot table. Requests for checkpoints (job.checkpoint) are not noise.
struct NoiseState {
    std::string name;       // "quiet", "io.write", "io.write+net", or several_noises
    std::string stressor;   // of its first factor; empty in quiet
    bool stresses = false;  // false for quiet, placebo and controls
};
inline constexpr const char* no_noise = "quiet";
inline constexpr const char* several_noises = "several noises";  // the noise changed during the span

// A save of all ranks that write. Times are those of the slowest rank: a training that exchanges gradients waits for
// it.
struct Save {
    std::int64_t number = 0;  // column `step` of checkpoints.csv
    CheckpointSetting setting;
    NoiseState noise;  // from its start until it was written
    double stall_s = 0.0;
    double copy_s = 0.0;
    double write_s = 0.0;
    double sync_s = 0.0;
    double bytes = 0.0;                       // of all ranks
    double duration_s = 0.0;                  // from its start until it was written, on the slowest rank
    std::optional<std::size_t> first_step{};  // index of the step in which it began; none if after the last step
    std::size_t last_step = 0;                // index of the step in which it was written; no less than first_step
};

// A restart of all ranks: times are those of the slowest one.
struct RestartTime {
    CheckpointSetting setting;  // without mode and fsync
    NoiseState noise;           // from its start until the state was restored
    double verify_s = 0.0;      // finding the newest sound checkpoint
    double read_s = 0.0;
    double bytes = 0.0;  // of all ranks

    double s() const { return verify_s + read_s; }
};

// The cost of saves for the steps between them, estimated from randomised slots that requested saves (job.checkpoint).
struct RequestedSaves {
    std::string mode;
    Mean percent;            // slowdown of the steps between: CheckpointCost::percent
    double between_s = 0.0;  // time of these steps in a slot
};

struct TimeUnderNoise {
    double s = 0.0;
    std::size_t steps = 0;
};

struct CheckpointRun {
    std::string name;
    std::string model;  // as in CheckpointSetting
    std::vector<Save> saves;
    std::vector<RestartTime> restarts;
    base::LongColumn<double> step_ms;       // [step]: job's step without the phases checkpoint and control_*
    base::LongColumn<std::uint32_t> state;  // [step]: index in states
    std::vector<NoiseState> states;
    std::map<std::string, TimeUnderNoise> time;  // [name of a state], of whole steps
    std::vector<RequestedSaves> requested;
    std::optional<double> parameters;
    std::optional<double> steps_per_epoch;
    std::string cut_off;  // why not all rows count; empty if all do
    std::vector<std::string> notes;
};

// Throws Error for a run without steps, an unsound file, or noise on another clock (without an offset: training's clock
// - noise's clock).
CheckpointRun read_checkpoint_run(const CheckpointFiles& files, std::optional<std::int64_t> clock_offset_ns);

}  // namespace analysis
