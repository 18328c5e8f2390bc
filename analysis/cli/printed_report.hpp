// SPDX-License-Identifier: Apache-2.0
// Prints a report in the format of --format.
#pragma once

#include "analysis/cli/settings.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <functional>

namespace analysis {

struct Shown {
    std::function<void()> text;  // prints the report for a terminal
    std::function<void()> markdown;
    std::function<nlohmann::ordered_json()> json;
};

// out: the folder of the report, which holds its page.
void show(const std::filesystem::path& out, const Settings& settings, const Shown& shown);

// Prints an existing report from the files written when it was made. Throws UsageError if there is no file of that
// format.
void show_again(const std::filesystem::path& out, const Settings& settings);

}  // namespace analysis
