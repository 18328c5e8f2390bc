// SPDX-License-Identifier: Apache-2.0
// limits-<host>.json: what each stressor reaches on this node by CPU count, as noisegen calibrate found it.
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

// Per second, of all CPUs together, over the rounds of a calibration.
struct Limit {
    double worst = 0.0;
    double median = 0.0;
    double best = 0.0;
};

// One value or more.
Limit limit_of(std::vector<double> rounds);

// Capacity of windows of a tenth of a second: a rate above that cannot come evenly, however right its mean is.
struct WindowLimit {
    std::size_t windows = 0;  // that were measured; 0: none were
    double bytes_per_s = 0.0;
    double operations_per_s = 0.0;
};

// Capacity from the windows' amounts per second at full speed: the 5th percentile, less 2 % as room for what a stall
// missed.
double held_in_windows(std::vector<double> windows);

// A stressor on a number of CPUs.
struct StressorLimit {
    std::string stressor;
    std::map<std::string, std::string> options;  // all of them but those of intensity
    std::size_t cpus = 0;                        // how many ran it
    std::string cpus_used;                       // "0-1"
    Limit bytes_per_s;                           // zeros if it counts none
    Limit operations_per_s;
    std::size_t rounds = 0;
    base::Nanoseconds round{};
    WindowLimit window;
    std::string measured;                                               // "2026-01-31T12:00:00Z"
    nlohmann::ordered_json machine = nlohmann::ordered_json::object();  // kernel, clock, version at that time
};

struct NodeLimits {
    std::filesystem::path file;
    std::vector<StressorLimit> entries;
    std::optional<WorstShape> worst = {};  // of memory.stream, if a calibration looked for it
};

// $XDG_CACHE_HOME/crosstalk/limits-<host>.json, or in ~/.cache. Throws UsageError if neither variable is set.
std::filesystem::path default_limits_file();

// --limits; an empty `file` means the default.
void add_limits_option(base::Options& options, std::string& file);

// No entries if there is no such file. Throws UsageError for a file of another host or CPU model, Error for one that is
// damaged.
NodeLimits read_limits(const std::filesystem::path& file);

// Adds the entries, each in the place of an earlier one of the same stressor, options and CPU count; all others stay,
// those included that another process adds at the same time. A worst shape takes the place of an earlier one. Throws
// what read_limits() throws, and std::system_error.
void add_limits(const std::filesystem::path& file, const std::vector<StressorLimit>& entries,
                const std::optional<WorstShape>& worst = {});

// Bytes or operations per second; none if that was not calibrated.
std::optional<Limit> find(const NodeLimits& limits, const std::string& stressor, const base::Settings& settings,
                          std::size_t cpus, base::Rate::Of of);

// Capacity of windows for a stressor on this number of CPUs; none if that was not calibrated.
std::optional<double> find_window(const NodeLimits& limits, const Configured& stressor, std::size_t cpus,
                                  base::Rate::Of of);

// The settings without those of intensity.
std::map<std::string, std::string> own_options(const base::Settings& settings);

// "memory.stream[shape=update]": without options that have their default value or no longer exist.
std::string stressor_text(const std::string& stressor, const std::map<std::string, std::string>& options);

}  // namespace noisegen
