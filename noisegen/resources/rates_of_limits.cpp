// SPDX-License-Identifier: Apache-2.0
#include "noisegen/resources/rates_of_limits.hpp"

#include "base/error.hpp"
#include "base/figures.hpp"
#include "base/system/cpus.hpp"
#include "base/system/environment.hpp"

#include <algorithm>
#include <cmath>

namespace noisegen {

namespace fs = std::filesystem;

namespace {

// The text quoted as one word of a shell.
std::string quoted(const std::string& text)
{
    std::string word = "'";
    for (const char c : text) word += c == '\'' ? std::string{"'\\''"} : std::string(1, c);
    return word + "'";
}

std::string calibration_command(const NodeLimits& limits, const Configured& stressor, const std::vector<int>& cpus)
{
    std::string command = "noisegen calibrate " +
                          quoted(stressor_text(stressor.card->name, own_options(stressor.settings))) + " --cpus " +
                          base::format_cpus({cpus.begin(), cpus.end()});
    const bool has_default = base::environment("XDG_CACHE_HOME") || base::environment("HOME");
    if (!has_default || limits.file != default_limits_file()) command += " --limits " + quoted(limits.file.string());
    return command;
}

}  // namespace

base::Rate resolve(const NodeLimits& limits, const Configured& stressor, base::Percent share,
                   const std::vector<int>& cpus)
{
    const base::Rate::Of of = stressor.card->counts_bytes ? base::Rate::Of::bytes : base::Rate::Of::operations;
    const auto limit = find(limits, stressor.card->name, stressor.settings, cpus.size(), of);
    if (limit && limit->worst <= 0.0)
        base::fail_usage(stressor.card->name, "[rate=", base::format(share),
                         "]: its calibrated limit is 0; calibrate again on idle CPUs: ",
                         calibration_command(limits, stressor, cpus));
    if (!limit)
        base::fail_usage(stressor.card->name, "[rate=", base::format(share), "]: its limit on ", cpus.size(),
                         cpus.size() == 1 ? " CPU" : " CPUs",
                         " is not known; measure it with: ", calibration_command(limits, stressor, cpus));
    constexpr double finest = 1e-3;  // in records the share is rounded to thousandths
    return {std::max(1.0, std::round(share.fraction() * limit->worst / finest)) * finest, of};
}

void resolve_rates(Schedule& schedule, const std::vector<std::vector<int>>& runs, const fs::path& file)
{
    const auto is_share = [](const FactorLevel& level) { return level.intensity.of_limit.has_value(); };
    const bool has_shares = std::ranges::any_of(schedule.levels, is_share);
    if (!has_shares && !asks_for_worst_shape(schedule)) return;
    const NodeLimits limits = read_limits(file.empty() ? default_limits_file() : file);
    resolve_worst_shape(schedule, limits.worst);
    for (FactorLevel& level : schedule.levels) {
        if (!level.intensity.of_limit) continue;
        level.intensity.rate =
            resolve(limits, schedule.stressors[level.stressor], *level.intensity.of_limit, runs[level.stressor]);
    }
}

std::vector<std::string> rates_beyond_windows(const Schedule& schedule, const std::vector<std::vector<int>>& runs,
                                              const fs::path& file)
{
    const auto has_rate = [](const FactorLevel& level) { return level.intensity.rate.has_value(); };
    if (std::ranges::none_of(schedule.levels, has_rate)) return {};
    NodeLimits limits;
    try {
        limits = read_limits(file.empty() ? default_limits_file() : file);
    } catch (const std::exception&) {
        return {};
    }
    std::vector<std::string> lines;
    for (const FactorLevel& level : schedule.levels) {
        if (!level.intensity.rate) continue;
        const base::Rate rate = *level.intensity.rate;
        const auto held = find_window(limits, schedule.stressors[level.stressor], runs[level.stressor].size(), rate.of);
        if (!held || *held <= 0.0 || rate.per_second <= *held) continue;
        const auto figure = [&](double per_second) {
            return rate.of == base::Rate::Of::bytes ? base::speed_text(per_second) : base::operations_text(per_second);
        };
        lines.push_back(base::join(text(level), ": windows of 100 ms sustain only ", figure(*held), " here, but ",
                                   figure(rate.per_second), " is requested: some will fall short"));
    }
    return lines;
}

}  // namespace noisegen
