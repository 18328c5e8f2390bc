// SPDX-License-Identifier: Apache-2.0
// Limits of what a run can show, from the records of its programs.
#pragma once

#include "analysis/results/report.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace analysis {

// Reasons from the noise's records against calling anything safe: slots that began late; and, by factor and level,
// against calling that noise safe: it did less than 90 % of the requested work, or others had its CPU for more than a
// tenth of its time.
std::vector<std::string> late_slots(const Report& report);
std::map<std::pair<std::string, std::string>, std::string> what_noise_lacked(const Report& report);

// Why nothing can be called safe: noise continued long after the last step, and no record says that the training had
// ended.
std::vector<std::string> unknown_end(const Report& report);

// A sentence for each limit: ranks that share a core, a virtual machine, noise on few of the cores or on the training's
// own, late noise, few blocks, an order that was not random. Limits that would need a missing record are not given.
std::vector<std::string> limits(const Report& report);

// Reasons why noise did not cover the training: it stood still for a tenth of its time or more.
std::vector<std::string> noise_stood_still(const Report& report);

// Reasons why noise did not cover the training: it was moved to other CPUs, or could not be held to its slots.
std::vector<std::string> noise_elsewhere(const Report& report);

}  // namespace analysis
