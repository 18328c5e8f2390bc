// SPDX-License-Identifier: Apache-2.0
// Identifies the run of a report.
#pragma once

#include "analysis/input/noise_archive.hpp"
#include "analysis/input/training.hpp"
#include "analysis/results/report.hpp"

#include <string>
#include <vector>

namespace analysis {

// Texts are empty if not recorded.
struct Identity {
    std::vector<std::string> hosts;  // hosts of the ranks, each once
    std::string model;
    std::string data;
    std::string strategy;
    std::size_t ranks = 0;
    std::string cpu_model;
    std::string started;  // when the training started: 2026-11-21T05:44:58Z
    std::string schedule;
    std::string seed;
    std::string step_is;
};
Identity identity(const Report& report);

// The identity in one line: "resnet18, ddp, 2 ranks on node1, 2026-11-21T05:44:58Z".
std::string text(const Identity& identity);

// Removes records of another run than that of the archive next to them, and adds a note for each.
void drop_foreign_records(Report& report, const Training& training, const std::vector<Noise>& noise);

}  // namespace analysis
