// SPDX-License-Identifier: Apache-2.0
// Settings by which an operator can limit each kind of noise, by the part of the training that it slowed, and how.
#pragma once

#include "analysis/conclude/cause.hpp"

#include <optional>
#include <string>
#include <vector>

namespace analysis {

struct Advice {
    std::string text;
    std::vector<std::string> commands{};  // commands and settings to copy, in the order in which the text names them
};

// `verdict`: safe, unsafe or undecided. docs/slurm.md describes what each setting does.
Advice advice(const std::string& stressor, const Cause& cause, const std::string& verdict);

// Levels that stand for "no limit"; other levels of the factor are compared with them.
inline constexpr const char* unlimited_levels[] = {"limit=none", "sched=other"};

// The setting behind a level that an operator can also make: "io.max:50MiB/s" for "limit=io.max:50MiB/s", or
// "sched=idle".
std::optional<std::string> tried_setting(const std::string& level);

}  // namespace analysis
