// SPDX-License-Identifier: Apache-2.0
// limits-<host>.json: the rates that each stressor reaches on this node by number of CPUs, measured by noisegen
// calibrate.
#pragma once

#include "base/cli/options.hpp"
#include "base/units.hpp"
#include "noisegen/resources/worst_shape.hpp"
#include "noisegen/schedule/schedule.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace noisegen {

// Rates per second, summed over CPUs, in the rounds of a calibration.
struct Limit {
    double worst = 0.0;
    double median = 0.0;
    double best = 0.0;
};

// `rounds` must not be empty.
Limit limit_of(std::vector<double> rounds);

// Capacity of windows of a tenth of a second: above it a rate cannot be kept in every window, even if its mean is
// right.
struct WindowLimit {
    std::size_t windows = 0;  // number of windows measured
    double bytes_per_s = 0.0;
    double operations_per_s = 0.0;
};

// Capacity from the windows' rates at full speed: the 5th percentile minus 2 %, which leave room to catch up after a
// stall.
double held_in_windows(std::vector<double> windows);

// Limits of a stressor on a number of CPUs.
struct StressorLimit {
    std::string stressor;
    std::map<std::string, std::string> options;  // all options except those of intensity
    std::size_t cpus = 0;                        // number of CPUs that ran it
    std::string cpus_used;                       // "0-1"
    Limit bytes_per_s;                           // zeros if the stressor counts no bytes
    Limit operations_per_s;
    std::size_t rounds = 0;
    base::Nanoseconds round{};
    WindowLimit window;
    std::string measured;                                               // "2026-01-31T12:00:00Z"
    nlohmann::ordered_json machine = nlohmann::ordered_json::object();  // kernel, clock rate and version at that time
};

struct NodeLimits {
    std::filesystem::path file;
    std::vector<StressorLimit> entries{};
    std::optional<WorstShape> worst = {};  // worst shape of memory.stream, if a calibration determined it
};

// $XDG_CACHE_HOME/crosstalk/limits-<host>.json, or the same in ~/.cache. Throws UsageError if neither variable is set.
std::filesystem::path default_limits_file();

// Adds --limits; an empty `file` means the default.
void add_limits_option(base::Options& options, std::string& file);

// Returns no entries if the file does not exist. Throws UsageError for a file of another host or CPU model, Error for a
// damaged file.
NodeLimits read_limits(const std::filesystem::path& file);

// Adds the entries. An entry replaces an earlier one with the same stressor, options and number of CPUs; other entries
// stay, including those that another process adds at the same time. A worst shape replaces the earlier one. Throws as
// read_limits() does, and std::system_error.
void add_limits(const std::filesystem::path& file, const std::vector<StressorLimit>& entries,
                const std::optional<WorstShape>& worst = {});

// The limit in bytes or operations per second, as `of` says; none if it was not calibrated.
std::optional<Limit> find(const NodeLimits& limits, const std::string& stressor, const base::Settings& settings,
                          std::size_t cpus, base::Rate::Of of);

// Capacity of windows for a stressor on this number of CPUs; none if it was not calibrated.
std::optional<double> find_window(const NodeLimits& limits, const Configured& stressor, std::size_t cpus,
                                  base::Rate::Of of);

// The settings without the options of intensity.
std::map<std::string, std::string> own_options(const base::Settings& settings);

// "memory.stream[shape=update]", without options that have their default value or no longer exist.
std::string stressor_text(const std::string& stressor, const std::map<std::string, std::string>& options);

}  // namespace noisegen
