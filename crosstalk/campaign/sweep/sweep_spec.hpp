// SPDX-License-Identifier: Apache-2.0
// SPEC.ini of kind = sweep: the command of a trial, its parameters, and how they are chosen.
#pragma once

#include "base/cli/manual.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace crosstalk {

struct SweepParameter {
    std::string name;
    std::vector<std::string> choices{};  // empty: a range
    bool whole = false;                  // whole numbers only
    bool log = false;                    // drawn evenly by their logarithm
    double low = 0.0;
    double high = 0.0;
    double step = 0.0;  // 0: not given
};

struct SweepSpec {
    std::string about;
    std::string command;
    std::vector<SweepParameter> parameters;
    std::string sampler = "random";
    std::string pruner = "none";
    std::string goal = "minimize";
    std::string value = "loss";
    std::string value_line;  // regular expression; empty: lines KEY=VALUE
    int trials = 0;          // number of trials; a grid has one for each point
    int workers = 0;         // 0: one for each free set of cores
    int cores = 1;           // physical cores of each worker
    std::uint64_t seed = 1;
};

// Throws UsageError that names file and line: an unknown key, an empty range, a parameter that the command does not
// have, or {NAME} in the command that is not a parameter.
SweepSpec read_sweep_spec(const std::filesystem::path& file);

// The same as JSON, for the workers.
std::string json_of(const SweepSpec& spec);

base::Section sweep_spec_section();

}  // namespace crosstalk
