// SPDX-License-Identifier: Apache-2.0
// Which run a report is of.
#pragma once

#include "analysis/input/noise_archive.hpp"
#include "analysis/input/training.hpp"
#include "analysis/results/report.hpp"

#include <string>
#include <vector>

namespace analysis {

// Text that no record holds is empty.
struct Identity {
    std::vector<std::string> hosts;  // of the ranks, each once
    std::string model;
    std::string data;
    std::string strategy;
    std::size_t ranks = 0;
    std::string cpu_model;
    std::string started;  // of the training: 2026-11-21T05:44:58Z
    std::string schedule;
    std::string seed;
    std::string step_is;
};
Identity identity(const Report& report);

// One line: "resnet18, ddp, 2 ranks on node1, 2026-11-21T05:44:58Z".
std::string text(const Identity& identity);

// A record that is of another run than the archive beside it is taken out of the report, and a note says so.
void drop_foreign_records(Report& report, const Training& training, const std::vector<Noise>& noise);

}  // namespace analysis
