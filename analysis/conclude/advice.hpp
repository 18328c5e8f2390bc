// SPDX-License-Identifier: Apache-2.0
// Settings by which an operator can limit each kind of noise, given what it got in the way of, and how.
#pragma once

#include "analysis/conclude/cause.hpp"

#include <optional>
#include <string>
#include <vector>

namespace analysis {

struct Advice {
    std::string text;
    std::vector<std::string> commands{};  // and settings, for readers to copy; in the order in which they stand in it
};

// verdict: safe, unsafe, undecided. What each setting does: docs/slurm.md.
Advice advice(const std::string& stressor, const Cause& cause, const std::string& verdict);

// Levels without a limit, against which others are compared.
inline constexpr const char* unlimited_levels[] = {"limit=none", "sched=other"};

// The setting that a level tries and an operator can make: "io.max:50MiB/s" of "limit=io.max:50MiB/s", or "sched=idle".
std::optional<std::string> tried_setting(const std::string& level);

}  // namespace analysis
