// SPDX-License-Identifier: Apache-2.0
// Finds the worst verdict of each week on each set of nodes.
#include "analysis/report/summary/summary.hpp"
#include "base/contract/factor_name.hpp"
#include "base/contract/verdict_words.hpp"
#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <map>
#include <set>
#include <tuple>

namespace analysis {

namespace {

constexpr std::int64_t day_s = 86'400;
constexpr std::int64_t week_s = 7 * day_s;

// Monday of the week of a time. 1970-01-01 was a Thursday.
std::int64_t monday_of(std::int64_t time_s)
{
    const std::int64_t since_a_monday = time_s + 3 * day_s;
    return time_s - (since_a_monday % week_s + week_s) % week_s;
}

std::string date_text(std::int64_t time_s, const char* form)
{
    const std::time_t time = time_s;
    std::tm date{};
    ::gmtime_r(&time, &date);
    std::array<char, 32> text{};
    return {text.data(), std::strftime(text.data(), text.size(), form, &date)};
}

std::size_t badness(const std::string& verdict)
{
    static const std::vector<std::string> worst_first{base::verdict_word::unsafe, base::verdict_word::untrusted,
                                                      base::verdict_word::undecided, base::verdict_word::insensitive,
                                                      base::verdict_word::safe};
    return static_cast<std::size_t>(worst_first.end() - std::find(worst_first.begin(), worst_first.end(), verdict));
}

// True for runs that ask how many cores a job needs; cores_table() has their answers.
bool only_tries(const RunSummary& run)
{
    const auto is_tried = [](const NoiseInRun& noise) { return noise.tried; };
    return !run.noises.empty() && std::all_of(run.noises.begin(), run.noises.end(), is_tried);
}

void take_if_worse(Week& week, const std::string& verdict, const NoiseInRun* noise)
{
    const std::size_t before = week.verdict.empty() ? 0 : badness(week.verdict);
    const double percent = noise == nullptr ? 0.0 : noise->percent;
    if (!week.verdict.empty() && std::pair{badness(verdict), percent} <= std::pair{before, week.percent}) return;
    week.verdict = verdict;
    week.noise = noise == nullptr ? "" : base::factor_name(noise->factor, noise->level);
    week.percent = percent;
    week.interval = noise == nullptr ? Interval{} : noise->interval;
}

}  // namespace

std::vector<Week> weeks_of(const std::vector<RunSummary>& runs)
{
    std::map<std::tuple<std::string, std::string, std::int64_t>, Week> weeks;
    for (const RunSummary& run : runs) {
        if (!run.started_s || only_tries(run)) continue;
        const std::int64_t monday = monday_of(*run.started_s);
        Week& week = weeks[{run.node_type, run.hosts, monday}];
        week.node_type = run.node_type;
        week.hosts = run.hosts;
        week.week = date_text(monday, "%G-W%V");
        week.begins = date_text(monday, "%F");
        week.begin_s = monday;
        ++week.runs;
        if (!run.trustworthy) {  // its verdicts do not count
            take_if_worse(week, base::verdict_word::untrusted, nullptr);
            continue;
        }
        ++week.trustworthy;
        for (const NoiseInRun& noise : run.noises)
            if (!noise.tried) take_if_worse(week, noise.verdict, &noise);
    }
    std::vector<Week> found;
    for (auto& [key, week] : weeks) found.push_back(std::move(week));
    return found;
}

std::vector<std::vector<std::string>> week_map(const Summary& summary, std::size_t most_weeks)
{
    if (summary.weeks.empty()) return {};
    const auto earlier = [](const Week& a, const Week& b) { return a.begin_s < b.begin_s; };
    const auto [first, last] = std::minmax_element(summary.weeks.begin(), summary.weeks.end(), earlier);
    const std::int64_t begin_s =
        std::max(first->begin_s, last->begin_s - (static_cast<std::int64_t>(most_weeks) - 1) * week_s);
    std::vector<std::vector<std::string>> rows{{"node type", "hosts"}};
    for (std::int64_t monday = begin_s; monday <= last->begin_s; monday += week_s)
        rows.front().push_back(date_text(monday, "%G-W%V"));
    for (const Week& week : summary.weeks) {
        const std::string type = week.node_type.empty() ? "-" : week.node_type;
        if (rows.size() == 1 || rows.back()[0] != type || rows.back()[1] != week.hosts) {
            rows.emplace_back(rows.front().size(), "-");
            rows.back()[0] = type;
            rows.back()[1] = week.hosts;
        }
        if (week.begin_s < begin_s) continue;
        const auto column = static_cast<std::size_t>((week.begin_s - begin_s) / week_s) + 2;
        const bool named = week.verdict != base::verdict_word::safe && !week.noise.empty();
        rows.back()[column] = named ? base::join(week.verdict, ": ", week.noise) : week.verdict;
    }
    return rows;
}

std::vector<std::size_t> newest_runs(const Summary& summary)
{
    std::map<RunSeries, std::size_t> newest;
    for (std::size_t i = 0; i < summary.runs.size(); ++i)  // in order of start: a later run replaces an earlier one
        newest[series_of(summary.runs[i])] = i;
    std::vector<std::size_t> indices;
    for (const auto& [key, index] : newest) indices.push_back(index);
    std::sort(indices.begin(), indices.end());
    return indices;
}

}  // namespace analysis
