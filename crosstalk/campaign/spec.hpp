// SPDX-License-Identifier: Apache-2.0
// Specification of a campaign: SPEC.ini, a line NAME = VALUE for each setting.
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

    // The job: a ddl-train for each of models x strategies x ranks, or a command.
    std::vector<std::string> models;
    std::string data = "synthetic";
    std::vector<std::string> strategies{"ddp"};
    std::vector<int> ranks{2};
    std::string options;  // more words for ddl-train
    std::string command;
    std::string evidence = "auto";
    std::string step_line;  // how crosstalk run finds the command's steps; at most one
    std::string step_from;
    std::string step_region;

    // The noise beside it.
    std::vector<std::string> noise;     // stressors; an option may have levels: rate=1GiB/s|4GiB/s
    std::vector<std::string> cores;     // that noise gets: a number, or all
    std::vector<std::string> designed;  // schedules of designed runs
    std::string cpus;                   // of the training, and of noise; empty: as crosstalk run chooses
    std::string noise_cpus;
    int nodes = 1;  // of each run

    // How often, how long, in which order.
    int repetitions = 5;
    int quiet = 1;  // runs without noise in a block
    base::Nanoseconds duration{60'000'000'000};
    base::Nanoseconds wait{2'000'000'000};  // before the training starts beside noise: up to so long, at random
    base::Nanoseconds start_within{120'000'000'000};  // a training that takes no step for so long has failed
    int warmup = 10;                                  // steps
    std::uint64_t seed = 1;
    std::string budget = "1%";
};

// Throws UsageError that names the file, and the right key for a wrong one.
Spec read_spec(const std::filesystem::path& file);

// The keys, for a manual.
base::Section spec_section();

}  // namespace crosstalk
