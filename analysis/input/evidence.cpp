// SPDX-License-Identifier: Apache-2.0
#include "analysis/input/evidence.hpp"

#include "base/contract/os_table.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace analysis {

namespace fs = std::filesystem;
namespace os = base::os;

namespace {

// Index of a rank by its host and the kernel's id of its main thread.
using PlaceOfRank = std::map<std::pair<std::string, std::int64_t>, std::size_t>;

PlaceOfRank places_of_ranks(const nlohmann::ordered_json& record, const StepTable& steps)
{
    const nlohmann::json::json_pointer ranks{"/result/each_rank"};
    PlaceOfRank places;
    if (!record.contains(ranks)) return places;
    const auto& each = record.at(ranks);
    for (std::size_t place = 0; place < steps.ranks.size(); ++place) {
        const auto rank = static_cast<std::size_t>(steps.ranks[place].rank);
        if (!each.is_array() || rank >= each.size() || !each[rank].is_object()) continue;
        const auto host = each[rank].find("host");
        const auto pid = each[rank].find("pid");
        if (host == each[rank].end() || pid == each[rank].end() || !host->is_string() || !pid->is_number_integer())
            continue;
        places[{host->get<std::string>(), pid->get<std::int64_t>()}] = place;
    }
    return places;
}

// Rows of one host that are used.
struct HostRows {
    std::vector<os::Row> rows;  // rows of main threads, from one source
    std::vector<std::pair<std::int64_t, std::int64_t>> throttled;
};

HostRows rows_of_host(const fs::path& file, const std::string& host, const PlaceOfRank& places)
{
    std::vector<os::Row> by_kernel;
    std::vector<os::Row> by_schedstat;
    HostRows found;
    base::read_rows(file, [&](const base::CsvRow& line) {
        os::Row row;
        row.begin_ns = line.get<std::int64_t>("begin_ns");
        row.end_ns = line.get<std::int64_t>("end_ns");
        row.source = line.text("source");
        row.cause = line.text("cause");
        row.by = line.text("by");
        row.ns = line.get<std::int64_t>("ns");
        if (row.end_ns <= row.begin_ns || row.ns < 0)
            base::fail(line.place("end_ns"), ": the interruption ends before it begins, or its time is negative");
        if (row.source == "cpu_stat" && row.cause == os::cause::throttled && row.ns > 0)
            found.throttled.emplace_back(row.begin_ns, row.end_ns);
        if (line.text("thread").empty()) return;
        row.thread = line.get<std::int64_t>("thread");
        if (!places.contains({host, *row.thread})) return;
        if (row.source == "bpf") by_kernel.push_back(std::move(row));
        if (row.source == "schedstat") by_schedstat.push_back(std::move(row));
    });
    found.rows = by_kernel.empty() ? std::move(by_schedstat) : std::move(by_kernel);
    return found;
}

bool while_throttled(const os::Row& row, const HostRows& host)
{
    return std::any_of(host.throttled.begin(), host.throttled.end(),
                       [&](const auto& span) { return row.begin_ns < span.second && row.end_ns > span.first; });
}

using Key =
    std::tuple<std::size_t, std::size_t, std::string, std::string, std::string>;  // rank, step, source, cause, by

void divide(const os::Row& row, const std::string& cause, std::size_t place, const StepTable& steps,
            std::map<Key, double>& ms)
{
    const RankSteps& rank = steps.ranks[place];
    const double share = static_cast<double>(row.ns) / static_cast<double>(row.end_ns - row.begin_ns);
    const auto first = std::upper_bound(rank.end_ns.begin(), rank.end_ns.end(), row.begin_ns);  // ends later
    for (auto i = static_cast<std::size_t>(first - rank.end_ns.begin()); i < rank.begin_ns.size(); ++i) {
        const std::int64_t begin_ns = std::max(row.begin_ns, rank.begin_ns[i]);
        const std::int64_t end_ns = std::min(row.end_ns, rank.end_ns[i]);
        if (rank.begin_ns[i] >= row.end_ns) break;
        if (end_ns > begin_ns)
            ms[{place, i, row.source, cause, row.by}] += share * static_cast<double>(end_ns - begin_ns) / 1e6;
    }
}

}  // namespace

Evidence read_evidence(const fs::path& run, const nlohmann::ordered_json& training_record, const StepTable& steps)
{
    Evidence evidence;
    const fs::path folder = run / os::folder;
    if (!fs::is_directory(folder)) return evidence;
    const PlaceOfRank places = places_of_ranks(training_record, steps);
    if (places.size() != steps.ranks.size())
        base::fail("the training's record does not say which process is which rank");

    std::map<Key, double> ms;
    for (const auto& host : fs::directory_iterator{folder}) {
        const fs::path file = host.path() / os::table;
        if (!fs::is_regular_file(file)) continue;
        const std::string name = host.path().filename().string();
        const HostRows rows = rows_of_host(file, name, places);
        for (const os::Row& row : rows.rows) {
            const bool quota = row.cause == os::cause::idle_cpu && while_throttled(row, rows);
            divide(row, quota ? os::cause::throttled : row.cause, places.at({name, *row.thread}), steps, ms);
        }
    }
    std::map<std::string, Eigen::Index> columns;
    for (const auto& [key, time] : ms) columns.try_emplace(std::get<3>(key), 0);
    for (auto& [name, column] : columns) {
        column = static_cast<Eigen::Index>(evidence.names.size());
        evidence.names.push_back(name);
    }
    evidence.ms.resize(static_cast<Eigen::Index>(steps.numbers.size()), static_cast<Eigen::Index>(columns.size()));
    for (const auto& [key, time] : ms) {
        const auto& [place, step, source, cause, by] = key;
        evidence.rows.push_back({steps.ranks[place].rank, steps.numbers[step], source, cause, by, time});
        evidence.ms(static_cast<Eigen::Index>(step), columns.at(cause)) +=
            time / static_cast<double>(steps.ranks.size());
    }
    return evidence;
}

}  // namespace analysis
