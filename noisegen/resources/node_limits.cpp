// SPDX-License-Identifier: Apache-2.0
#include "noisegen/resources/node_limits.hpp"

#include "base/contract/run_record.hpp"
#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/system/environment.hpp"
#include "base/system/launcher.hpp"
#include "noisegen/stressors/registry.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace noisegen {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

struct Node {
    std::string host;
    std::string cpu_model;
};

const Node& this_node()
{
    static const Node node = [] {
        const Json record = base::run_record("noisegen");
        return Node{record.at("host"), record.at("cpu_model")};
    }();
    return node;
}

Json to_json(const Limit& limit)
{
    return {{"worst", limit.worst}, {"median", limit.median}, {"best", limit.best}};
}

Json to_json(const StressorLimit& entry)
{
    return {{"stressor", entry.stressor},
            {"options", entry.options},
            {"cpus", entry.cpus},
            {"cpus_used", entry.cpus_used},
            {"bytes_per_s", to_json(entry.bytes_per_s)},
            {"operations_per_s", to_json(entry.operations_per_s)},
            {"rounds", entry.rounds},
            {"round_ns", entry.round.count()},
            {"windows_of_100ms",
             {{"count", entry.window.windows},
              {"bytes_per_s", entry.window.bytes_per_s},
              {"operations_per_s", entry.window.operations_per_s}}},
            {"measured", entry.measured},
            {"machine", entry.machine}};
}

Limit limit_from(const Json& json)
{
    const Limit limit{.worst = json.at("worst"), .median = json.at("median"), .best = json.at("best")};
    const bool sound = limit.worst >= 0.0 && limit.worst <= limit.median && limit.median <= limit.best;
    if (!sound || !std::isfinite(limit.best)) base::fail("limits do not satisfy 0 <= worst <= median <= best");
    return limit;
}

// Files of earlier versions have no windows.
WindowLimit window_from(const Json& entry)
{
    if (!entry.contains("windows_of_100ms")) return {};
    const Json& json = entry.at("windows_of_100ms");
    const WindowLimit window{.windows = json.at("count"),
                             .bytes_per_s = json.at("bytes_per_s"),
                             .operations_per_s = json.at("operations_per_s")};
    const double both = window.bytes_per_s + window.operations_per_s;
    if (window.bytes_per_s < 0.0 || window.operations_per_s < 0.0 || !std::isfinite(both))
        base::fail("a window's rate is negative");
    return window;
}

// Refuses numbers that nlohmann would convert silently, such as -1 and 1.5.
std::size_t count_from(const Json& json)
{
    if (!json.is_number_unsigned() || json == 0) base::fail(json.dump(), " is not a number of CPUs or rounds");
    return json;
}

StressorLimit entry_from(const Json& json)
{
    StressorLimit entry;
    entry.stressor = json.at("stressor");
    entry.options = json.at("options").get<std::map<std::string, std::string>>();
    entry.cpus = count_from(json.at("cpus"));
    entry.cpus_used = json.at("cpus_used");
    entry.bytes_per_s = limit_from(json.at("bytes_per_s"));
    entry.operations_per_s = limit_from(json.at("operations_per_s"));
    entry.rounds = count_from(json.at("rounds"));
    entry.round = base::Nanoseconds{json.at("round_ns").get<std::int64_t>()};
    entry.window = window_from(json);
    entry.measured = json.at("measured");
    entry.machine = json.at("machine");
    return entry;
}

void check_same_node(const fs::path& file, const Json& json)
{
    const std::string host = json.at("host");
    const std::string cpu_model = json.at("cpu_model");
    if (host != this_node().host)
        base::fail_usage("the limits in ", file.string(), " are of host ", host, ", this is ", this_node().host,
                         "; give another --limits file, or calibrate here");
    if (cpu_model != this_node().cpu_model)
        base::fail_usage("the limits in ", file.string(), " are of a ", cpu_model, ", but this host has a ",
                         this_node().cpu_model, "; remove the file and calibrate again");
}

NodeLimits limits_from(const fs::path& file, const std::string& text)
try {
    const Json json = base::parse_json(text, file.string());
    if (json.at("format") != base::format_version) base::fail("unknown format");
    check_same_node(file, json);
    NodeLimits limits{.file = file};
    for (const Json& entry : json.at("limits")) limits.entries.push_back(entry_from(entry));
    if (json.contains("worst_shape")) limits.worst = worst_shape_from(json.at("worst_shape"));
    return limits;
} catch (const base::UsageError&) {
    throw;
} catch (const std::exception& error) {
    base::fail("the limits in ", file.string(), " are damaged (", error.what(),
               "); remove the file and calibrate again");
}

bool same(const StressorLimit& a, const StressorLimit& b)
{
    return a.stressor == b.stressor && a.options == b.options && a.cpus == b.cpus;
}

[[noreturn]] void fail_to_create(const std::string& path, const std::string& why)
{
    base::fail("cannot create ", path, ": ", why, "; give another place with --limits FILE or XDG_CACHE_HOME=DIR");
}

// A lock among the processes of this host. The lock file lies next to the limits file, which each write replaces.
class Lock {
 public:
    explicit Lock(const fs::path& file)
    {
        const std::string path = file.string() + ".lock";
        descriptor_ = base::Descriptor{::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)};
        if (descriptor_ < 0) fail_to_create(path, std::strerror(errno));
        while (::flock(descriptor_, LOCK_EX) != 0)
            if (errno != EINTR) {  // some cluster file systems have no locks
                base::warn("cannot lock ", path, ": run only one calibration at a time");
                return;
            }
    }

 private:
    base::Descriptor descriptor_;
};

}  // namespace

Limit limit_of(std::vector<double> rounds)
{
    std::ranges::sort(rounds);
    const std::size_t count = rounds.size();
    return {
        .worst = rounds.front(), .median = (rounds[(count - 1) / 2] + rounds[count / 2]) / 2.0, .best = rounds.back()};
}

double held_in_windows(std::vector<double> windows)
{
    constexpr double share_below = 0.05;
    constexpr double room = 0.02;
    if (windows.empty()) return 0.0;
    std::ranges::sort(windows);
    return (1.0 - room) * windows[static_cast<std::size_t>(share_below * static_cast<double>(windows.size() - 1))];
}

fs::path default_limits_file()
{
    const std::string name = "limits-" + base::host_name() + ".json";
    const auto cache = base::environment("XDG_CACHE_HOME");
    if (cache && fs::path{*cache}.is_absolute()) return fs::path{*cache} / "crosstalk" / name;
    const auto home = base::environment("HOME");
    if (!home) base::fail_usage("neither XDG_CACHE_HOME nor HOME is set; give --limits FILE");
    return fs::path{*home} / ".cache" / "crosstalk" / name;
}

void add_limits_option(base::Options& options, std::string& file)
{
    options.add("limits", file,
                "limits measured by noisegen calibrate; default: limits-<host>.json in $XDG_CACHE_HOME/crosstalk or "
                "~/.cache/crosstalk",
                "FILE");
}

NodeLimits read_limits(const fs::path& file)
{
    std::error_code code;
    const fs::file_status status = fs::status(file, code);
    if (status.type() == fs::file_type::not_found) return {.file = file};
    if (status.type() == fs::file_type::none) base::fail("cannot read ", file.string(), ": ", code.message());
    if (status.type() != fs::file_type::regular) base::fail("cannot read ", file.string(), ": not a file");
    return limits_from(file, base::read_whole(file));
}

void add_limits(const fs::path& file, const std::vector<StressorLimit>& entries, const std::optional<WorstShape>& worst)
{
    std::error_code code;
    if (file.has_parent_path()) fs::create_directories(file.parent_path(), code);
    if (code) fail_to_create(file.parent_path().string(), code.message());
    const Lock lock{file};
    NodeLimits known_limits = read_limits(file);
    std::vector<StressorLimit>& all = known_limits.entries;
    if (worst) known_limits.worst = worst;
    for (const StressorLimit& entry : entries) {
        const auto old = std::ranges::find_if(all, [&](const StressorLimit& known) { return same(known, entry); });
        if (old == all.end())
            all.push_back(entry);
        else
            *old = entry;
    }
    Json json{{"format", base::format_version},
              {"host", this_node().host},
              {"cpu_model", this_node().cpu_model},
              {"limits", Json::array()}};
    for (const StressorLimit& entry : all) json["limits"].push_back(to_json(entry));
    if (known_limits.worst) json["worst_shape"] = to_json(*known_limits.worst);
    base::write_whole(file, base::json_text(json) + "\n");
}

namespace {

const StressorLimit* entry_of(const NodeLimits& limits, const std::string& stressor, const base::Settings& settings,
                              std::size_t cpus)
{
    const std::map<std::string, std::string> options = own_options(settings);
    for (const StressorLimit& entry : limits.entries)
        if (entry.stressor == stressor && entry.options == options && entry.cpus == cpus) return &entry;
    return nullptr;
}

}  // namespace

std::optional<Limit> find(const NodeLimits& limits, const std::string& stressor, const base::Settings& settings,
                          std::size_t cpus, base::Rate::Of of)
{
    const StressorLimit* entry = entry_of(limits, stressor, settings, cpus);
    if (entry == nullptr) return {};
    return of == base::Rate::Of::bytes ? entry->bytes_per_s : entry->operations_per_s;
}

std::optional<double> find_window(const NodeLimits& limits, const Configured& stressor, std::size_t cpus,
                                  base::Rate::Of of)
{
    const StressorLimit* entry = entry_of(limits, stressor.card->name, stressor.settings, cpus);
    if (entry == nullptr || entry->window.windows == 0) return {};
    return of == base::Rate::Of::bytes ? entry->window.bytes_per_s : entry->window.operations_per_s;
}

std::map<std::string, std::string> own_options(const base::Settings& settings)
{
    std::map<std::string, std::string> options = settings.all();
    for (const std::string& name : intensity_options()) options.erase(name);
    return options;
}

std::string stressor_text(const std::string& stressor, const std::map<std::string, std::string>& options)
{
    std::string inside;
    for (const StressorCard* card : stressors().cards()) {
        if (card->name != stressor) continue;
        for (const base::OptionCard& option : card->options) {
            const auto given = options.find(option.name);
            if (given == options.end() || given->second == option.default_text) continue;
            inside += (inside.empty() ? "" : ",") + option.name + "=" + given->second;
        }
    }
    return inside.empty() ? stressor : stressor + "[" + inside + "]";
}

}  // namespace noisegen
