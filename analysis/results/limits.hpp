// SPDX-License-Identifier: Apache-2.0
// Limits of what a run can show, from the records of its programs.
#pragma once

#include "analysis/results/report.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace analysis {

// Reasons in the records against the verdicts of a run.
struct RecordedFaults {
    // Reasons why noise did not cover the training: it was moved to other CPUs, could not be held to its slots, or
    // stood still for a tenth of its time or more.
    std::vector<std::string> promises_broken;
    // Reasons against calling anything safe: slots began late; noise continued long after the last step, and no record
    // says that the training had ended.
    std::vector<std::string> insensitive;
    // By factor and level, a reason against calling that noise safe: its job ended before the run, others had its CPU
    // for more than a tenth of its time, or it did less than 90 % of the requested work.
    std::map<std::pair<std::string, std::string>, std::string> lacked;
};
RecordedFaults recorded_faults(const Report& report);

// A sentence for each limit: ranks that share a core, a virtual machine, noise on few of the cores or on the training's
// own, late noise, few blocks, an order that was not random. Limits that would need a missing record are not given.
std::vector<std::string> limits(const Report& report);

}  // namespace analysis
