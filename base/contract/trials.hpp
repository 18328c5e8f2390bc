// SPDX-License-Identifier: Apache-2.0
// Trials of soft errors: trials.csv says what to alter in a training, outcomes.csv what became of it. A trial runs
// from the same state as all others of its moment, so that it differs from a null trial in what it alters alone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace base::file {

inline constexpr const char* trials = "trials.csv";      // of train/, as the next
inline constexpr const char* outcomes = "outcomes.csv";  // a row for each trial that ended, in the order of the trials
inline constexpr const char* trial_begun = "trial-begun";  // the name of the trial at hand

}  // namespace base::file

namespace base {

// In the column kind.
namespace trial_kind {
inline constexpr const char* null = "null";          // nothing is altered
inline constexpr const char* positive = "positive";  // a NaN in the last layer
inline constexpr const char* trial = "trial";
inline constexpr const char* stored = "stored";  // weights are read from memory whose bits flip
}  // namespace trial_kind

// In the column class. The first three are known when the trial ends; `ended` is divided into classes by interference
// outcomes.
namespace outcome_class {
inline constexpr const char* crashed = "crashed";
inline constexpr const char* collapsed = "collapsed";
inline constexpr const char* masked = "masked";
inline constexpr const char* ended = "ended";
inline constexpr const char* degraded = "degraded";
inline constexpr const char* recovered = "recovered";
inline constexpr const char* latent = "latent";
inline constexpr const char* tolerated = "tolerated";
}  // namespace outcome_class

struct Trial {
    std::string name;  // "b01.017"
    int block = 1;     // each holds every kind of trial, null and positive ones too
    std::string kind = trial_kind::trial;
    std::int64_t step = 0;         // altered before this step, as by ddl-train --alter
    std::string location = {};     // "layers.0.weight", or as ddl-alter --location; empty: all
    std::string bits = {};         // that may flip, "1" or "0-31"; empty: all
    std::int64_t count = 1;        // of numbers, a bit of each
    std::string target = "model";  // or optimizer, both
    std::string rank = "all";      // or a number
    std::string guard = "none";
    std::int64_t steps = 0;  // trained after it; 0: inference only
    std::uint64_t seed = 1;  // of the draw, as ddl-alter --seed

    // For kind stored: words of stored_state.hpp, and how likely a bit flips in a read.
    std::string store = {};
    std::string detect = {};
    double rate = 0.0;
    std::string reads = {};

    bool operator==(const Trial&) const = default;
};

// Throws Error that names file, line and column; UsageError for a table without rows.
std::vector<Trial> read_trials(const std::filesystem::path& file);
void write_trials(const std::filesystem::path& file, const std::vector<Trial>& trials);

// Between paths in a cell: names of tensors have blanks.
constexpr char path_separator = ';';

// A row of outcomes.csv. Empty cells where a trial crashed.
struct Outcome {
    std::string trial = {};
    std::string kind = {};
    std::string strategy = {};
    std::string rank = {};
    std::int64_t step = 0;
    std::string path = {};  // of the tensors altered, path_separator between
    std::string bits = {};  // that flipped, from the left
    std::string guard = {};
    std::string what = {};                              // the column class
    std::optional<double> accuracy = {};                // 0 to 1, of the held-out samples
    std::optional<double> loss = {};                    // of rank 0 in the last step; NaN if any rank's is not finite
    std::optional<std::int64_t> first_difference = {};  // steps until a loss differs from that of a null trial
    std::string caught = {};                            // by a guard: steps until then
    std::string checksum = {};                          // of rank 0's parameters, as in run.json
    std::string state_checksum = {};                    // of all ranks' model, optimizer, random numbers
    std::string index = {};                             // of the numbers altered, row by row, as many as paths
    double drawn_from = 0.0;                            // bits that might have flipped
    std::string accuracies = {};                        // "0:0.31 1:0.45": steps:accuracy
    std::optional<double> largest = {};                 // of the state's absolute values
    std::int64_t not_finite = 0;                        // numbers of the state
    std::int64_t steps = 0;
    double seconds = 0.0;
    std::optional<std::int64_t> flipped = {};   // of kind stored: bits, in all reads of all ranks
    std::optional<std::int64_t> detected = {};  // likewise, weights
};

const std::vector<std::string>& outcome_columns();
std::vector<std::string> cells(const Outcome& outcome);

// Throws Error that names file, line and column.
std::vector<Outcome> read_outcomes(const std::filesystem::path& file);

}  // namespace base
