// SPDX-License-Identifier: Apache-2.0
// Trials of soft errors as a campaign plans them: moment x location x bit x count x target x guard, crossed, in blocks
// that each hold null trials and positive ones, too; beside them moment x store x detection x rate x reads.
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
    std::string options;  // more words for ddl-train
    std::vector<std::string> strategies{"ddp"};
    int ranks = 2;
    std::vector<std::string> moments{"50"};  // steps
    std::int64_t end = 100;                  // step in which all trials end
    std::vector<std::string> locations;      // none: all of the target
    std::vector<std::string> bits{"0-31"};
    std::vector<std::string> counts{"1"};
    std::vector<std::string> targets{"model"};
    std::vector<std::string> altered_ranks{"all"};
    std::vector<std::string> guards{"none"};
    std::vector<std::string> stores;  // codes of weights that lie in memory whose bits flip; none: no such trials
    std::vector<std::string> detections{"none"};
    std::vector<std::string> rates{"1e-6", "1e-5", "1e-4", "1e-3", "1e-2"};
    std::vector<std::string> reads{"once"};
    int stored_trials = 5;  // of each of those combinations in a block
    int trials = 10;        // of each combination in a block
    int controls = 2;       // null trials, and positive ones, of each moment and guard in a block
    int blocks = 5;
    int seeds = 8;                              // undisturbed trainings that the band is made of
    base::Nanoseconds trial_time{500'000'000};  // for the estimate of hours
    std::string half_width = "5%";              // that intervals may have
    std::uint64_t seed = 1;
};

// Throws UsageError that names file, and line or key.
TrialSpec read_trial_spec(const std::filesystem::path& file);

// Depends on nothing but the spec. Throws UsageError for a moment behind the end.
std::vector<base::Trial> make_trials(const TrialSpec& spec);

// Makes the directory with spec.ini and trials.csv. Throws UsageError if it is there.
void make_trial_directory(const std::filesystem::path& directory, const std::string& spec,
                          const std::vector<base::Trial>& trials);

// How many trials, how many hours, which half width.
void print_trials(std::ostream& out, const TrialSpec& spec, const std::vector<base::Trial>& trials);

// The keys, for a manual.
base::Section trial_spec_section();

}  // namespace crosstalk
