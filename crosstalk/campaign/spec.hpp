// SPDX-License-Identifier: Apache-2.0
// Specification of a campaign: SPEC.ini, with a line NAME = VALUE for each setting.
#pragma once

#include "base/cli/manual.hpp"
#include "base/units.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace crosstalk {

struct Spec {
    std::string about;

    // The job: ddl-train for each combination of models, strategies and ranks, or a command.
    std::vector<std::string> models;
    std::string data = "synthetic";
    std::vector<std::string> strategies{"ddp"};
    std::vector<int> ranks{2};
    std::string options;  // further options for ddl-train; an option may list values: --checkpoint-format hdf5|raw
    std::string command;
    std::string evidence = "auto";
    std::string step_line;  // how crosstalk run finds the command's steps; at most one
    std::string step_from;
    std::string step_region;

    // The noise.
    std::vector<std::string> noise;     // stressors; an option may list levels: rate=1GiB/s|4GiB/s
    std::vector<std::string> cores;     // cores for the noise: a number, or "all"
    std::vector<std::string> designed;  // schedules of designed runs
    std::string cpus;                   // CPUs of the training (and below of the noise); empty: crosstalk run chooses
    std::string noise_cpus;
    int nodes = 1;  // nodes of each run

    // Number, length and order of the runs.
    int repetitions = 5;
    int quiet = 1;  // runs without noise in each block
    base::Nanoseconds duration{60'000'000'000};
    base::Nanoseconds wait{2'000'000'000};            // the training starts up to this long after the noise, at random
    base::Nanoseconds start_within{120'000'000'000};  // a training without a step for this long has failed
    int warmup = 10;                                  // number of steps
    std::uint64_t seed = 1;
    std::string budget = "1%";
};

// Throws UsageError that names the file and, for a wrong key, suggests the right one.
Spec read_spec(const std::filesystem::path& file);

// The options without those that list values, and every combination of these values.
struct OptionChoices {
    std::string common;
    std::vector<std::string> combinations{""};
};
OptionChoices choices_of(const std::string& options);

// Description of the keys, for the manual.
base::Section spec_section();

}  // namespace crosstalk
