// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/replay/root_causes.hpp"

#include "base/words.hpp"
#include "trace-tools/otf2/ranks.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>

namespace replay {

namespace {

template <class... Values>
std::string printed(const char* format, Values... values)
{
    std::string line(160, '\0');
    const int length = std::snprintf(line.data(), line.size(), format, values...);
    line.resize(static_cast<std::size_t>(std::clamp<int>(length, 0, static_cast<int>(line.size()) - 1)));
    return line;
}

std::string time_text(double seconds)
{
    if (seconds >= 1.0) return printed("%.2f s", seconds);
    return seconds >= 1e-3 ? printed("%.2f ms", seconds * 1e3) : printed("%.2f us", seconds * 1e6);
}

std::string cost_text(double seconds, const RunTime& run)
{
    return time_text(seconds) + printed(" (%.2f %% of all ranks' time)", run.percent(seconds));
}

// Lists the regions that account for nearly all of the rank's delay costs.
std::string regions_text(const RootCause& cause)
{
    constexpr double nearly_all = 0.95;
    constexpr std::size_t most = 3;
    std::string text;
    double printed_s = 0.0;
    std::size_t count = 0;
    for (const auto& [region, seconds] : cause.regions) {
        if (count == most || printed_s >= nearly_all * cause.seconds) break;
        const bool alone = seconds >= nearly_all * cause.seconds;
        text += (count++ > 0 ? ", " : "") + base::printable(region) + (alone ? "" : " " + time_text(seconds));
        printed_s += seconds;
    }
    return text + (printed_s < nearly_all * cause.seconds ? ", .." : "");
}

}  // namespace

std::vector<RootCause> root_causes(const otf2::Archive& archive, const std::vector<std::int64_t>& ranks,
                                   const DelayCosts& delay)
{
    std::map<std::pair<std::int64_t, std::string>, std::map<std::string, double>> by_rank;
    for (const auto& [key, seconds] : delay)
        by_rank[{ranks[key.location], otf2::rank_text(archive, ranks, key.location)}]
               [key.where == otf2::nowhere ? "work outside of regions" : archive.regions[key.where].name] += seconds;
    std::vector<RootCause> all;
    for (const auto& [rank, regions] : by_rank) {
        RootCause& one = all.emplace_back(
            RootCause{.name = rank.second, .seconds = 0.0, .regions = {regions.begin(), regions.end()}});
        for (const auto& [region, seconds] : one.regions) one.seconds += seconds;
        std::ranges::stable_sort(one.regions, [](const auto& a, const auto& b) { return a.second > b.second; });
    }
    std::ranges::stable_sort(all, [](const RootCause& a, const RootCause& b) { return a.seconds > b.seconds; });
    return all;
}

double RunTime::percent(double seconds) const
{
    return all_s > 0.0 ? 100.0 * seconds / all_s : 0.0;
}

RunTime run_time(const MpiReplay& replay)
{
    RunTime run{.ranks = replay.ranks()};
    for (const MpiTimes& one : replay.times()) {
        if (!one.counts()) continue;
        const double seconds = static_cast<double>(one.run_ns) / 1e9;
        run.longest_s = std::max(run.longest_s, seconds);
        run.all_s += seconds;
    }
    return run;
}

void print_root_causes(std::ostream& out, const std::vector<RootCause>& causes, const DelayCosts& unknown,
                       const RunTime& run)
{
    constexpr std::size_t most = 3;
    constexpr double least_share = 0.05;
    const double explained_s = std::accumulate(causes.begin(), causes.end(), 0.0,
                                               [](double sum, const RootCause& one) { return sum + one.seconds; });
    const double unknown_s = std::accumulate(unknown.begin(), unknown.end(), 0.0,
                                             [](double sum, const auto& one) { return sum + one.second; });
    std::size_t count = 0;
    double printed_s = 0.0;
    for (const RootCause& one : causes) {
        if (count == most || (count > 0 && one.seconds < least_share * (explained_s + unknown_s))) break;
        out << one.name << " made the others wait " << cost_text(one.seconds, run) << ": " << regions_text(one) << '\n';
        ++count;
        printed_s += one.seconds;
    }
    if (count < causes.size())
        out << causes.size() - count << (causes.size() - count == 1 ? " more rank: " : " more ranks together: ")
            << cost_text(explained_s - printed_s, run) << '\n';
    if (unknown_s > least_share * (explained_s + unknown_s))
        out << "waiting without a known cause: " << cost_text(unknown_s, run) << '\n';
}

}  // namespace replay
