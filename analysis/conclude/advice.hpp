// SPDX-License-Identifier: Apache-2.0
// Settings by which an operator can limit each kind of noise, given the mechanism by which it slowed the training.
#pragma once

#include "analysis/conclude/cause.hpp"

#include <optional>
#include <string>
#include <vector>

namespace analysis {

// The advice for a noise. verdict: safe, unsafe or undecided. docs/slurm.md describes each setting.
std::string advice(const std::string& stressor, Mechanism mechanism, const std::string& verdict);

// The commands and settings in an advice, word for word, for readers to copy.
std::vector<std::string> commands_in(const std::string& advice);

// Levels without a limit, against which others are compared.
inline constexpr const char* unlimited_levels[] = {"limit=none", "sched=other"};

// The setting that a level tries and an operator can make: "io.max:50MiB/s" of "limit=io.max:50MiB/s", or "sched=idle".
std::optional<std::string> tried_setting(const std::string& level);

}  // namespace analysis
