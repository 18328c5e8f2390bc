// SPDX-License-Identifier: Apache-2.0
// Limits of what a run can show, from the records beside its archives.
#pragma once

#include "analysis/results/report.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace analysis {

// From the noise's records, why nothing can be called safe: slots that began late. And by factor and level why that
// noise cannot: it did less than 90 % of what it was asked for, or others had its CPU for more than a tenth of its
// time.
std::vector<std::string> late_slots(const Report& report);
std::map<std::pair<std::string, std::string>, std::string> what_noise_lacked(const Report& report);

// Why nothing can be called safe: noise went on long after the last step, and nothing says that the training had ended.
std::vector<std::string> unknown_end(const Report& report);

// A sentence each: ranks that share a core, a virtual machine, noise on few of the cores or on the training's own, late
// noise, few blocks, an order that was not random. What no record holds is not known, and not said.
std::vector<std::string> limits(const Report& report);

// Noise that stood still for a tenth of its time or more did not cover the training: the reasons to say so.
std::vector<std::string> noise_stood_still(const Report& report);

// Noise that somebody moved to other CPUs, or that could not be held to its slots: the reasons to say so.
std::vector<std::string> noise_elsewhere(const Report& report);

}  // namespace analysis
