// SPDX-License-Identifier: Apache-2.0
#include "analysis/report/summary/summary.hpp"

#include "analysis/estimate/trend.hpp"
#include "base/contract/factor_name.hpp"
#include "base/contract/job_cores.hpp"
#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <map>
#include <set>
#include <tuple>

namespace analysis {

namespace {

namespace fs = std::filesystem;
using SummaryJson = nlohmann::ordered_json;

// Parses "2026-11-21T05:44:58Z" into seconds since 1970.
std::optional<std::int64_t> seconds_of(const std::string& started)
{
    std::tm time{};
    char end = 0;
    if (std::sscanf(started.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d%c", &time.tm_year, &time.tm_mon, &time.tm_mday,
                    &time.tm_hour, &time.tm_min, &time.tm_sec, &end) != 7 ||
        end != 'Z')
        return std::nullopt;
    time.tm_year -= 1900;
    time.tm_mon -= 1;
    return static_cast<std::int64_t>(::timegm(&time));
}

NoiseInRun noise_of(const std::string& factor, const SummaryJson& json)
{
    return {.factor = factor,
            .level = json.value("level", std::string{}),
            .stressor = json.value("stressor", std::string{}),
            .verdict = json.at("verdict").get<std::string>(),
            .percent = json.at("effect_percent").get<double>(),
            .interval = {json.at("low_percent").get<double>(), json.at("high_percent").get<double>()}};
}

std::vector<CoresInRun> cores_of(const SummaryJson& verdict)
{
    std::vector<CoresInRun> all;
    for (const SummaryJson& cores : verdict.value("cores", SummaryJson::array())) {
        CoresInRun& one = all.emplace_back();
        if (cores.at("keep").is_number_integer()) one.keep = cores.at("keep").get<int>();
        one.at_least = cores.at("at_least").get<int>();
        one.most = cores.at("most").get<int>();
        one.neighbour = cores.at("neighbour").get<std::string>();
    }
    return all;
}

RunSummary run_of(const fs::path& directory, const fs::path& report)
{
    const SummaryJson json = base::read_json(report / base::file::verdict);
    const SummaryJson& identity = json.at("identity");
    RunSummary run;
    run.directory = directory;
    run.report = report;
    run.started = identity.at("started").get<std::string>();
    run.started_s = seconds_of(run.started);
    run.hosts = base::join_words(identity.at("hosts").get<std::vector<std::string>>(), " ");
    run.node_type = identity.value("cpu_model", std::string{});
    run.model = identity.at("model").get<std::string>();
    run.data = identity.at("data").get<std::string>();
    run.strategy = identity.at("strategy").get<std::string>();
    run.ranks = identity.at("ranks").get<std::size_t>();
    run.trustworthy = json.at("trustworthy").get<bool>();
    run.covered = json.at("covered").get<bool>();
    run.quiet_step_ms = json.at("quiet_step_ms").get<double>();
    run.budget_percent = json.at("budget_percent").get<double>();
    for (const auto& [factor, of_factor] : json.at("factors").items()) {
        if (of_factor.contains("levels"))
            for (const auto& [level, of_level] : of_factor.at("levels").items())
                run.noises.push_back(noise_of(factor, of_level));
        else
            run.noises.push_back(noise_of(factor, of_factor));
    }
    run.cores = cores_of(json);
    for (NoiseInRun& noise : run.noises)
        noise.tried = !run.cores.empty() && noise.stressor == base::job_cores::stressor;
    return run;
}

// The folder of the directory's verdict.json; empty if there is none.
fs::path report_in(const fs::path& directory)
{
    const fs::path of_cores = directory.filename() == base::file::cores_record ? directory.parent_path() : directory;
    for (const fs::path& folder : {directory / base::part::report, of_cores})
        if (fs::is_regular_file(folder / base::file::verdict)) return folder;
    return {};
}

// The directory, or those of the runs that crosstalk cores --threads put into it.
std::vector<fs::path> runs_in(const fs::path& directory)
try {
    const fs::path whole = directory.filename() == base::file::cores_record ? directory.parent_path() : directory;
    if (!report_in(directory).empty() || !fs::is_regular_file(whole / base::file::cores_record)) return {directory};
    const SummaryJson json = base::read_json(whole / base::file::cores_record);
    std::vector<fs::path> runs;
    for (const SummaryJson& run : json.at("runs")) runs.push_back(whole / run.at("directory").get<std::string>());
    if (runs.empty()) runs.push_back(directory);
    return runs;
} catch (const nlohmann::json::exception&) {
    return {directory};
} catch (const base::Error&) {
    return {directory};
}

void add_run(Summary& summary, std::set<fs::path>& known, const fs::path& directory)
try {
    const fs::path report = report_in(directory);
    if (report.empty())
        summary.without.push_back({directory, fs::is_directory(directory) ? "no report" : "no such directory"});
    else if (known.insert(fs::canonical(report)).second)
        summary.runs.push_back(run_of(directory, report));
} catch (const nlohmann::json::exception&) {
    summary.without.push_back({directory, base::join(base::file::verdict, " is not the verdict of a designed run")});
} catch (const base::Error& error) {
    summary.without.push_back({directory, error.what()});
}

using TrendKey = std::tuple<std::string, std::string, std::string, std::string, std::size_t, std::string, std::string>;

struct TrendValues {
    std::vector<double> days;  // since the first of all runs
    std::vector<double> percent;
    const RunSummary* last = nullptr;
};

std::vector<Trend> trends_of(const std::vector<RunSummary>& runs)
{
    constexpr double day_s = 86'400.0;
    std::map<TrendKey, TrendValues> groups;
    for (const RunSummary& run : runs) {
        if (!run.trustworthy || !run.started_s) continue;
        for (const NoiseInRun& noise : run.noises) {
            TrendValues& group =
                groups[{run.hosts, run.model, run.data, run.strategy, run.ranks, noise.factor, noise.level}];
            group.days.push_back(static_cast<double>(*run.started_s - *runs.front().started_s) / day_s);
            group.percent.push_back(noise.percent);
            group.last = &run;
        }
    }
    std::vector<Trend> trends;
    for (const auto& [key, group] : groups) {
        const std::optional<Mean> a_day = slope(group.days, group.percent);
        if (!a_day) continue;
        const double days = group.days.back() - group.days.front();
        const Interval interval = a_day->interval(0.95);
        trends.push_back({.of = *group.last,
                          .factor = std::get<5>(key),
                          .level = std::get<6>(key),
                          .runs = group.days.size(),
                          .days = days,
                          .change = a_day->value * days,
                          .interval = {interval.low * days, interval.high * days}});
    }
    return trends;
}

}  // namespace

Summary summary_of(const std::vector<std::string>& directories)
{
    Summary summary;
    std::set<fs::path> known;
    for (const fs::path directory : directories)
        for (const fs::path& run : runs_in(directory)) add_run(summary, known, run);
    if (summary.runs.empty())
        base::fail(summary.without.front().directory.string(),
                   directories.size() == 1 ? ": " : " and all others: ", summary.without.front().why);
    std::stable_sort(summary.runs.begin(), summary.runs.end(), [](const RunSummary& a, const RunSummary& b) {
        return a.started_s.value_or(INT64_MAX) < b.started_s.value_or(INT64_MAX);
    });
    summary.trends = trends_of(summary.runs);
    summary.weeks = weeks_of(summary.runs);
    return summary;
}

std::string noises_in(const RunSummary& run)
{
    std::set<std::string> names;
    for (const NoiseInRun& noise : run.noises) names.insert(noise.factor);
    return base::join_words(std::vector<std::string>{names.begin(), names.end()}, " ");
}

RunSeries series_of(const RunSummary& run)
{
    return {run.hosts, run.model, run.data, run.strategy, run.ranks, noises_in(run)};
}

std::vector<std::string> noises_of(const Summary& summary)
{
    std::vector<std::string> names;
    for (const RunSummary& run : summary.runs)
        for (const NoiseInRun& noise : run.noises) {
            const std::string name = base::factor_name(noise.factor, noise.level);
            if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
        }
    return names;
}

const NoiseInRun* find(const RunSummary& run, const std::string& noise)
{
    for (const NoiseInRun& one : run.noises)
        if (base::factor_name(one.factor, one.level) == noise) return &one;
    return nullptr;
}

}  // namespace analysis
