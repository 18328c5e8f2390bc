// SPDX-License-Identifier: Apache-2.0
// Settings by which an operator can limit each kind of noise, given what it got in the way of.
#pragma once

#include "analysis/conclude/cause.hpp"

#include <optional>
#include <string>
#include <vector>

namespace analysis {

// verdict: safe, unsafe, undecided. What each setting does: docs/slurm.md.
std::string advice(const std::string& stressor, Mechanism mechanism, const std::string& verdict);

// Commands and settings that an advice names, as they stand in it, for readers to copy.
std::vector<std::string> commands_in(const std::string& advice);

// Levels without a setting, against which others are compared.
inline constexpr const char* unlimited_levels[] = {"limit=none", "sched=other"};

// "limit=io.max:50MiB/s" and "sched=idle": a setting that an operator can make, tried as a level; "io.max:50MiB/s".
std::optional<std::string> tried_setting(const std::string& level);

}  // namespace analysis
