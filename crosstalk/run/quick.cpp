// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/run/quick.hpp"

#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/figures.hpp"
#include "base/json.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace crosstalk {

namespace {

namespace fs = std::filesystem;

constexpr double longest_run_s = 86'400.0;

}  // namespace

std::string how_coarse(const Request& request)
try {
    const fs::path file = request.whole / base::part::report / base::file::verdict;
    if (!fs::exists(file)) return "";
    const auto verdict = base::read_json(file);
    if (!verdict.at("trustworthy").get<bool>()) return "";
    const double budget = verdict.at("budget_percent").get<double>();
    double worst = 0.0;
    std::vector<std::string> seen;
    for (const auto& [noise, factor] : verdict.at("factors").items()) {
        if (!factor.at("detectable_percent").is_number()) continue;
        const double percent = factor.at("detectable_percent").get<double>();
        worst = std::max(worst, percent);
        seen.push_back(base::join(base::percent(percent), " of ", noise));
    }
    if (seen.empty()) return "";
    const std::string coarse = base::join("coarse (--quick): this run could have seen ", base::join_words(seen, ", "));
    if (worst <= budget) return base::join(coarse, ", and the budget is ", base::percent(budget));
    // The half width is proportional to 1 / sqrt(length).
    const double times = worst / budget * (worst / budget);
    const double needed_s = std::chrono::duration<double>(request.duration).count() * times;
    if (!(needed_s <= longest_run_s))
        return base::join(coarse, "; ", base::percent(budget),
                          " would take more than a day: a quieter machine is needed");
    const auto minutes = std::llround(std::ceil(needed_s / 60.0));
    return base::join(coarse, "; for ", base::percent(budget), " take about ", minutes,
                      "min: crosstalk run --duration ", minutes, "min -- ", base::shell_words(request.command));
} catch (const nlohmann::json::exception&) {
    return "";
}

}  // namespace crosstalk
