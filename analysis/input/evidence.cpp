// SPDX-License-Identifier: Apache-2.0
#include "analysis/input/evidence.hpp"

#include "base/contract/os_table.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "trace-tools/otf2/read/confined.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
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

std::string host_of_first(const PlaceOfRank& places)
{
    const auto first = std::find_if(places.begin(), places.end(), [](const auto& rank) { return rank.second == 0; });
    return first == places.end() ? "" : first->first.first;
}

// Why throttled time is unknown; empty if it is known.
std::string what_throttled_lacks(const fs::path& record)
{
    if (!fs::is_regular_file(record)) return base::join("there is no ", record.string());
    const nlohmann::ordered_json json = base::read_json(record);
    const nlohmann::json::json_pointer place{"/sources/cpu_stat"};
    if (!json.contains(place)) return base::join(record.string(), " does not say");
    return json.at(place).is_string() ? json.at(place).get<std::string>() : "";
}

// Rows of threads are not of the job, though they may have the same cause.
bool is_of_job(const os::Row& row)
{
    return row.cause == os::cause::pressure || (row.source == "proc_stat" && row.cause == os::cause::steal) ||
           (row.source == "cpu_stat" && row.cause == os::cause::throttled);
}

// Is it a thread's time from a counter? Without eBPF programs no other times are known.
bool is_time_by_counters(const os::Row& row)
{
    return row.ns > 0 && (row.cause == os::cause::runqueue_wait || row.cause == os::cause::block_io ||
                          row.cause == os::cause::interrupt || row.cause == os::cause::softirq);
}

// Throttled time of the job's control group, by start and end of the reading.
using Throttled = std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t>;

// schedstat counts a thread's throttled time as a wait for a CPU. The group's throttled time is an upper bound for each
// of its threads.
void split_off_throttled(std::vector<os::Row>& waits, const Throttled& throttled)
{
    const std::size_t count = waits.size();
    for (std::size_t i = 0; i < count; ++i) {
        const auto found = throttled.find({waits[i].begin_ns, waits[i].end_ns});
        if (found == throttled.end() || waits[i].cause != os::cause::runqueue_wait) continue;
        os::Row part = waits[i];
        part.cause = os::cause::throttled;
        part.ns = std::min(part.ns, found->second);
        waits[i].ns -= part.ns;
        waits.push_back(std::move(part));
    }
}

struct HostRows {
    std::vector<JobReading> readings;
    std::vector<CounterReading> counters;
};

// Readings by start, end and cause.
using CounterSums = std::map<std::tuple<std::int64_t, std::int64_t, std::string>, CounterReading>;

bool is_of_processor(const os::Row& row)
{
    return row.source == "perf" || row.source == "resctrl" || row.source == "cpufreq";
}

void add_up(CounterSums& sums, const os::Row& row)
{
    CounterReading& sum = sums[{row.begin_ns, row.end_ns, row.cause}];
    sum.begin_ns = row.begin_ns;
    sum.end_ns = row.end_ns;
    sum.cause = row.cause;
    sum.sum += static_cast<double>(row.count);
    ++sum.of;
}

using TakeRow = std::function<void(const os::Row&)>;

// Hands over the rows of the job's threads one by one, since a table may hold millions: those of the eBPF programs or,
// without them, those of the counters, which say less.
HostRows rows_of_host(const fs::path& file, const std::string& host, const PlaceOfRank& places, const TakeRow& take)
{
    bool by_programs = false;
    std::vector<os::Row> by_counters;
    std::vector<os::Row> stolen;  // steal, which the eBPF programs do not see
    Throttled throttled;
    CounterSums counters;
    HostRows found;
    otf2::now_reading(file);
    base::read_rows(file, [&](const base::CsvRow& line) {
        otf2::getting_on();
        os::Row row;
        row.begin_ns = line.get<std::int64_t>("begin_ns");
        row.end_ns = line.get<std::int64_t>("end_ns");
        row.source = line.text("source");
        row.cause = line.text("cause");
        row.by = line.text("by");
        row.ns = line.get<std::int64_t>("ns");
        if (row.end_ns <= row.begin_ns || row.ns < 0)
            base::fail(line.place("end_ns"), ": the interruption ends before it begins, or its time is negative");
        if (row.source == "cpu_stat" && row.cause == os::cause::throttled)
            throttled[{row.begin_ns, row.end_ns}] = row.ns;
        if (is_of_job(row)) found.readings.push_back({row.begin_ns, row.end_ns, row.cause, row.by, row.ns});
        if (is_of_processor(row)) {
            row.count = line.get<std::int64_t>("count");
            return add_up(counters, row);
        }
        if (line.text("thread").empty()) return;
        row.thread = line.get<std::int64_t>("thread");
        if (!places.contains({host, *row.thread})) return;
        if (row.source == "bpf") {
            by_programs = true;
            take(row);
        } else if (row.cause == os::cause::steal)
            stolen.push_back(std::move(row));
        else if (is_time_by_counters(row))
            by_counters.push_back(std::move(row));
    });
    for (auto& [key, sum] : counters) found.counters.push_back(std::move(sum));
    split_off_throttled(by_counters, throttled);
    if (!by_programs) std::ranges::for_each(by_counters, take);
    std::ranges::for_each(stolen, take);
    return found;
}

using Key =
    std::tuple<std::size_t, std::size_t, std::string, std::string, std::string>;  // rank, step, source, cause, by

void divide(const os::Row& row, std::size_t place, const StepTable& steps, std::map<Key, double>& ms)
{
    const RankSteps& rank = steps.ranks[place];
    const double share = static_cast<double>(row.ns) / static_cast<double>(row.end_ns - row.begin_ns);
    const auto first = std::upper_bound(rank.end_ns.begin(), rank.end_ns.end(), row.begin_ns);  // ends later
    for (auto i = static_cast<std::size_t>(first - rank.end_ns.begin()); i < rank.begin_ns.size(); ++i) {
        const std::int64_t begin_ns = std::max(row.begin_ns, rank.begin_ns[i]);
        const std::int64_t end_ns = std::min(row.end_ns, rank.end_ns[i]);
        if (rank.begin_ns[i] >= row.end_ns) break;
        if (end_ns > begin_ns)
            ms[{place, i, row.source, row.cause, row.by}] += share * static_cast<double>(end_ns - begin_ns) / 1e6;
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
        HostRows rows = rows_of_host(file, name, places, [&](const os::Row& row) {
            divide(row, places.at({name, *row.thread}), steps, ms);
        });
        if (name == host_of_first(places)) {
            evidence.readings = std::move(rows.readings);
            evidence.counters = std::move(rows.counters);
            evidence.throttled_lacks = what_throttled_lacks(host.path() / os::record);
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
