// SPDX-License-Identifier: Apache-2.0
// Planning of soft-error trials: all combinations of moment, location, bit, count, target and guard, in blocks that
// also contain null and positive trials; and all combinations of moment, store, detection, rate and reads.
#pragma once

#include "base/cli/manual.hpp"
#include "base/contract/trials.hpp"
#include "base/units.hpp"

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

namespace crosstalk {

struct TrialSpec {
    std::string about;
    std::string model = "mlp";
    std::string options;  // further options for ddl-train
    std::vector<std::string> strategies{"ddp"};
    int ranks = 2;
    std::vector<std::string> moments{"50"};  // steps before which state is altered
    std::int64_t end = 100;                  // step at which all trials end
    std::vector<std::string> locations;      // empty: the whole target
    std::vector<std::string> bits{"0-31"};
    std::vector<std::string> counts{"1"};
    std::vector<std::string> targets{"model"};
    std::vector<std::string> altered_ranks{"all"};
    std::vector<std::string> guards{"none"};
    std::vector<std::string> stores;  // encodings of weights in memory whose bits flip; empty: no such trials
    std::vector<std::string> detections{"none"};
    std::vector<std::string> rates{"1e-6", "1e-5", "1e-4", "1e-3", "1e-2"};
    std::vector<std::string> reads{"once"};
    int stored_trials = 5;  // trials of each of those combinations, per block
    int trials = 10;        // trials of each combination, per block
    int controls = 2;       // null trials, and positive trials, of each moment and guard, per block
    int blocks = 5;
    int seeds = 8;                              // undisturbed trainings that define the band
    base::Nanoseconds trial_time{500'000'000};  // expected time of a trial, for the estimate of hours
    std::string half_width = "5%";              // half width that intervals may have
    std::uint64_t seed = 1;
};

// Throws UsageError that names the file, and line or key.
TrialSpec read_trial_spec(const std::filesystem::path& file);

// Depends on the spec only. Throws UsageError for a moment after the end.
std::vector<base::Trial> make_trials(const TrialSpec& spec);

// Creates the directory with spec.ini and trials.csv. Throws UsageError if it exists.
void make_trial_directory(const std::filesystem::path& directory, const std::string& spec,
                          const std::vector<base::Trial>& trials);

// Prints the number of trials, the hours that they take, and the half width that they reach.
void print_trials(std::ostream& out, const TrialSpec& spec, const std::vector<base::Trial>& trials);

// Description of the keys, for the manual.
base::Section trial_spec_section();

}  // namespace crosstalk
