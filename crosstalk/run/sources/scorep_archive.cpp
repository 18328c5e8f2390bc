// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/run/sources/scorep_archive.hpp"

#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/system/environment.hpp"
#include "crosstalk/programs/programs.hpp"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <initializer_list>
#include <utility>

namespace crosstalk {

namespace {

namespace fs = std::filesystem;

constexpr const char* directory_variable = "SCOREP_EXPERIMENT_DIRECTORY";
constexpr std::int64_t same_ns = 1'000'000;  // tolerance of two consecutive readings of one clock

// Does the job's time contain all events of the archive, if its clock is ahead by `ahead_ns`?
bool within(const ArchiveTimes& archive, const JobTimes& job, std::int64_t ahead_ns)
{
    const std::int64_t begin_ns = archive.begin_ns - ahead_ns;
    return begin_ns >= job.begin_ns - same_ns && begin_ns + archive.length_ns <= job.end_ns + same_ns;
}

bool is_fresh(const fs::path& directory, fs::file_time_type since)
{
    std::error_code none;
    const fs::file_time_type written = fs::last_write_time(directory / base::file::anchor, none);
    return !none && written >= since;
}

}  // namespace

std::optional<bool> scorep_tracing_is_asked_for()
{
    const std::optional<std::string> word = base::environment("SCOREP_ENABLE_TRACING");
    if (!word) return {};
    return *word == "true" || *word == "yes" || *word == "on" || *word == "1";
}

// Score-P's default timer counts processor ticks, and its clock_gettime may be CLOCK_MONOTONIC_RAW: both run at another
// rate than the noise's clock. gettimeofday runs at the same rate.
std::vector<std::string> scorep_words(const fs::path& directory)
{
    const std::vector<std::pair<const char*, std::string>> settings{
        {"SCOREP_ENABLE_TRACING", "true"}, {"SCOREP_TIMER", "gettimeofday"}, {directory_variable, directory.string()}};
    std::vector<std::string> words{"env"};
    for (const auto& [name, value] : settings)
        if (!base::environment(name)) words.push_back(base::join(name, "=", value));
    return words;
}

std::optional<fs::path> scorep_directory(const fs::path& folder, fs::file_time_type since)
{
    if (const std::optional<std::string> named = base::environment(directory_variable))
        if (is_fresh(folder / *named, since)) return folder / *named;
    std::optional<fs::path> newest;
    std::error_code unreadable;
    for (const fs::directory_entry& entry : fs::directory_iterator{folder, unreadable}) {
        const fs::path& path = entry.path();
        if (!path.filename().string().starts_with("scorep-") || !is_fresh(path, since)) continue;
        if (!newest ||
            fs::last_write_time(*newest / base::file::anchor) < fs::last_write_time(path / base::file::anchor))
            newest = path;
    }
    return newest;
}

bool started_scorep(const fs::path& folder, fs::file_time_type since)
{
    std::error_code unreadable;
    for (const fs::directory_entry& entry : fs::directory_iterator{folder, unreadable})
        if (entry.path().filename().string().starts_with("scorep-") && entry.last_write_time(unreadable) >= since)
            return true;
    return scorep_directory(folder, since).has_value();
}

ArchiveTimes archive_times(const fs::path& anchor, const fs::path& log)
try {
    const int code = wait_for(*start(
        {.words = {program("trace-info"), "--json", anchor.string()}, .folder = {}, .output = log, .errors = log}, {}));
    if (code != base::exit_fine) base::fail("Score-P's archive cannot be read: see ", log.string());
    const nlohmann::ordered_json clock = base::read_json(log).at("clock");
    ArchiveTimes times{.begin_ns = clock.at("begin_ns"), .length_ns = clock.at("length_ns"), .realtime_ns = {}};
    if (!clock.at("realtime_ns").is_null()) times.realtime_ns = clock.at("realtime_ns").get<std::int64_t>();
    return times;
} catch (const nlohmann::json::exception&) {
    base::fail(anchor.string(), " has no clock properties: see ", log.string());
}

std::int64_t clock_ahead_ns(const ArchiveTimes& archive, const JobTimes& job)
{
    const std::initializer_list<std::int64_t> known{0, job.realtime_ahead_ns};
    if (archive.realtime_ns) {
        const std::int64_t ahead_ns = archive.begin_ns - (*archive.realtime_ns - job.realtime_ahead_ns);
        for (const std::int64_t clock_ns : known)
            if (std::abs(ahead_ns - clock_ns) < same_ns && within(archive, job, clock_ns)) return clock_ns;
        if (within(archive, job, ahead_ns)) return ahead_ns;
    } else {
        for (const std::int64_t clock_ns : known)
            if (within(archive, job, clock_ns)) return clock_ns;
    }
    base::fail("unknown clock of Score-P's archive: set SCOREP_TIMER=gettimeofday, or unset it");
}

}  // namespace crosstalk
