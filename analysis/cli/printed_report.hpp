// SPDX-License-Identifier: Apache-2.0
// Prints a report as --format asks for it.
#pragma once

#include "analysis/cli/settings.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <functional>

namespace analysis {

struct Shown {
    std::function<void()> text;  // prints it for a terminal
    std::function<void()> markdown;
    std::function<nlohmann::ordered_json()> json;
};

// `out`: the report's folder, which has the page.
void show(const std::filesystem::path& out, const Settings& settings, const Shown& shown);

// The same of a report that is there already, as it was printed then. Throws UsageError where it has no such file.
void show_again(const std::filesystem::path& out, const Settings& settings);

}  // namespace analysis
