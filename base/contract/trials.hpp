// SPDX-License-Identifier: Apache-2.0
// Trials of soft errors: trials.csv lists the alterations of a training, outcomes.csv their outcomes. All trials of one
// step start from the same state, so a trial differs from the null trial in its alteration alone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace base::file {

inline constexpr const char* trials = "trials.csv";        // files in train/: this one and the next ones
inline constexpr const char* outcomes = "outcomes.csv";    // one row per trial that ended, in the trials' order
inline constexpr const char* trial_begun = "trial-begun";  // holds the name of the trial in progress

}  // namespace base::file

namespace base {

// Values of the column kind.
namespace trial_kind {
inline constexpr const char* null = "null";          // nothing is altered
inline constexpr const char* positive = "positive";  // a NaN in the last layer
inline constexpr const char* trial = "trial";
inline constexpr const char* stored = "stored";  // weights are read from memory whose bits flip
}  // namespace trial_kind

// Values of the column class. The first three are known when the trial ends; `interference outcomes` divides `ended`
// into classes.
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
    int block = 1;     // each block holds every kind of trial, null and positive included
    std::string kind = trial_kind::trial;
    std::int64_t step = 0;         // the alteration comes before this step, as with ddl-train --alter
    std::string location = {};     // "layers.0.weight", or a location of ddl-alter; empty: everything
    std::string bits = {};         // bits that may flip, "1" or "0-31"; empty: all
    std::int64_t count = 1;        // altered numbers; one bit flips in each
    std::string target = "model";  // "model", "optimizer" or "both"
    std::string rank = "all";      // "all" or a rank's number
    std::string guard = "none";
    std::int64_t steps = 0;  // steps trained after the alteration; 0: inference only
    std::uint64_t seed = 1;  // seed of the draw, as ddl-alter --seed

    // For kind `stored`: words of stored_state.hpp, and the probability that a bit flips in one read.
    std::string store = {};
    std::string detect = {};
    double rate = 0.0;
    std::string reads = {};

    bool operator==(const Trial&) const = default;
};

// Throws Error that names file, line and column; UsageError for a table without rows.
std::vector<Trial> read_trials(const std::filesystem::path& file);
void write_trials(const std::filesystem::path& file, const std::vector<Trial>& trials);

// Separator of paths in a cell; not a blank, since names of tensors may have blanks.
constexpr char path_separator = ';';

// A row of outcomes.csv. Cells are empty if the trial crashed.
struct Outcome {
    std::string trial = {};
    std::string kind = {};
    std::string strategy = {};
    std::string rank = {};
    std::int64_t step = 0;
    std::string path = {};  // altered tensors, separated by path_separator
    std::string bits = {};  // flipped bits, counted from the left
    std::string guard = {};
    std::string what = {};                              // an outcome_class, in the column class
    std::optional<double> accuracy = {};                // 0 to 1, of the held-out samples
    std::optional<double> loss = {};                    // rank 0, last step; NaN if any rank's loss is not finite
    std::optional<std::int64_t> first_difference = {};  // steps until a loss differs from the null trial's
    std::string caught = {};                            // steps until a guard detected it
    std::string checksum = {};                          // rank 0's parameters, as in run.json
    std::string state_checksum = {};                    // model, optimizer and random numbers of all ranks
    std::string index = {};                             // indices of the altered numbers, row by row, one per path
    double drawn_from = 0.0;                            // number of bits that might have flipped
    std::string accuracies = {};                        // "0:0.31 1:0.45": steps:accuracy
    std::optional<double> largest = {};                 // largest absolute value of the state
    std::int64_t not_finite = 0;                        // NaN and infinite numbers in the state
    std::int64_t steps = 0;
    double seconds = 0.0;
    std::optional<std::int64_t> flipped = {};   // kind stored: bits flipped in all reads of all ranks
    std::optional<std::int64_t> detected = {};  // kind stored: weights found damaged in all reads
};

const std::vector<std::string>& outcome_columns();
std::vector<std::string> cells(const Outcome& outcome);

// Throws Error that names file, line and column.
std::vector<Outcome> read_outcomes(const std::filesystem::path& file);

}  // namespace base
