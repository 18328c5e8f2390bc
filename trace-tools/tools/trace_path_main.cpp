// SPDX-License-Identifier: Apache-2.0
// trace-path: the critical path of an MPI program, its imbalance, and the causes of waiting.
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/words.hpp"
#include "trace-tools/otf2/ranks.hpp"
#include "trace-tools/otf2/read/reader.hpp"
#include "trace-tools/replay/first_pass.hpp"
#include "trace-tools/replay/imbalance.hpp"
#include "trace-tools/replay/mpi_replay.hpp"
#include "trace-tools/replay/root_causes.hpp"
#include "trace-tools/tools/archive_tool.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <map>
#include <utility>

namespace {

constexpr const char* path_csv = "path.csv";

struct Row {
    double seconds = 0.0;
    double imbalance_s = 0.0;
    double delay_cost_s = 0.0;
    double indirect_s = 0.0;
};

// By region and rank; the threads of a rank are added up.
using Rows = std::map<std::pair<std::uint32_t, std::int64_t>, Row>;

std::string name_of(std::uint32_t region, const otf2::Archive& archive)
{
    return region == otf2::nowhere ? "(outside of regions)" : archive.regions[region].name;
}

Rows rows_of(const replay::CriticalPath& path, const replay::MpiReplay& replay, const std::vector<std::int64_t>& ranks)
{
    Rows rows;
    const std::map<replay::PathKey, double> imbalance = replay::critical_path_imbalance(path, replay);
    for (const auto& [key, ns] : path.ns) {
        Row& row = rows[{key.where, ranks[key.location]}];
        row.seconds += static_cast<double>(ns) / 1e9;
        row.imbalance_s += imbalance.at(key);
    }
    for (const auto& [key, seconds] : path.delay) rows[{key.where, ranks[key.location]}].delay_cost_s += seconds;
    for (const auto& [key, seconds] : path.indirect_delay) rows[{key.where, ranks[key.location]}].indirect_s += seconds;
    return rows;
}

void write(const std::filesystem::path& directory, const Rows& rows, const std::map<std::int64_t, double>& unknown,
           const otf2::Archive& archive)
{
    const base::MadeDirectories made{directory};
    base::CsvWriter table{
        directory / path_csv,
        {"region", "rank", "seconds", "imbalance_seconds", "delay_cost_seconds", "direct_seconds", "indirect_seconds"},
        base::CsvWriter::Appear::whole};
    for (const auto& [key, row] : rows)
        table.row(name_of(key.first, archive), key.second, row.seconds, row.imbalance_s, row.delay_cost_s,
                  row.delay_cost_s - row.indirect_s, row.indirect_s);
    for (const auto& [rank, seconds] : unknown) table.row("(cause unknown)", rank, 0.0, 0.0, seconds, seconds, 0.0);
    table.finish();
}

// Prints the rows with the largest values.
void print(const char* title, const Rows& rows, double Row::*seconds, const otf2::Archive& archive)
{
    constexpr std::size_t most = 5;
    std::vector<Rows::const_iterator> order;
    double all_s = 0.0;
    for (auto row = rows.begin(); row != rows.end(); ++row) {
        if (row->second.*seconds > 0.0) order.push_back(row);
        all_s += row->second.*seconds;
    }
    if (order.empty()) return;
    std::ranges::stable_sort(order,
                             [&](auto one, auto other) { return one->second.*seconds > other->second.*seconds; });
    std::printf("%-40s %6s %14s %7s\n", title, "rank", "seconds", "%");
    for (std::size_t i = 0; i < std::min(order.size(), most); ++i) {
        const auto& [key, row] = *order[i];
        std::printf("  %-38s %6lld %14.9f %7.2f\n", base::printable(name_of(key.first, archive)).c_str(),
                    static_cast<long long>(key.second), row.*seconds, 100.0 * row.*seconds / all_s);
    }
    std::printf("  %-38s %6s %14.9f %7.2f\n",
                order.size() > most ? base::join("all ", order.size(), " rows").c_str() : "all", "", all_s, 100.0);
}

int analyse(const ArchiveTool& tool)
{
    const std::filesystem::path out = tool.out();
    tool.refuse_taken({path_csv});
    otf2::Reader reader{tool.anchor};
    const otf2::Archive& archive = reader.archive();
    const std::vector<std::int64_t> ranks = otf2::ranks_of_locations(archive);
    const otf2::Part part = otf2::part_of(reader, tool.part);
    replay::FirstPass first{reader, {.threads = tool.threads.count}};
    replay::MpiReplay replay{
        archive,
        first.take_started(),
        {.critical_path = true, .part = part, .threads = tool.threads.count, .meanwhile = [&] { return first.help(); }},
        [](const replay::WaitKey&, const replay::WaitSum&) {}};
    replay::replay_archive(first, replay, tool.name);
    if (!replay.joined()) {
        if (!out.empty()) write(out, {}, {}, archive);
        std::cout << "no critical path: no MPI between ranks, no tasks between threads\n";
        return base::exit_fine;
    }
    const replay::CriticalPath path = replay.critical_path();
    const Rows rows = rows_of(path, replay, ranks);
    std::map<std::int64_t, double> unknown;
    for (const auto& [key, seconds] : path.unknown_delay) unknown[ranks[key.location]] += seconds;
    if (!out.empty()) write(out, rows, unknown, archive);
    replay::print_root_causes(std::cout, replay::root_causes(archive, ranks, path.delay), path.unknown_delay,
                              replay::run_time(replay));
    std::cout.flush();
    const std::string where =
        tool.part.any() ? "critical path in " + base::printable(tool.part.text()) : "critical path";
    print(where.c_str(), rows, &Row::seconds, archive);
    print("delay costs", rows, &Row::delay_cost_s, archive);
    return base::exit_fine;
}

}  // namespace

int main(int argc, char** argv)
try {
    ArchiveTool tool{"trace-path", "finds the critical path and root causes of waiting in an OTF2 archive",
                     "directory for path.csv"};
    tool.threads.add_to(tool.options);
    tool.options.section(
        {.title = "Columns of path.csv",
         .entries = {
             {"region, rank",
              "where all threads of the rank spent time; '(outside of regions)': in no region; '(cause unknown)': "
              "waiting without a known cause"},
             {"seconds",
              "time on the critical path; the sum is the time from the first ENTER to the last LEAVE, or the path's "
              "share in the selected part"},
             {"imbalance_seconds", "time of the region on the path beyond its mean over the ranks"},
             {"delay_cost_seconds",
              "waiting time that it caused (Scalasca's delay cost); the sum is all waiting (without completion) of "
              "trace-waits"},
             {"direct_seconds, indirect_seconds",
              "delay cost of ranks that waited for this rank, and of ranks that waited for those ranks"},
         }});
    tool.options.section(
        {.title = "On the terminal",
         .text =
             "Ranks that made others wait, in percent of the time of all ranks, and the rows with the most seconds, in "
             "percent of all rows. --region, --from and --to select seconds, waits and delay costs; the path is that "
             "of the whole run."});
    tool.options.epilogue(
        "The critical path connects ranks by MPI, and threads of a process by regions with OTF2's task roles: from "
        "TASK_CREATE to the TASK of another thread, and on to the TASK_WAIT that it ends. Late threads are not found "
        "where threads synchronise in timed rounds, as in ddl-train's strategy cycle. Events are spilled to temporary "
        "files (TMPDIR), about half the archive's size; without space there, the archive is read twice.");
    tool.options.example("trace-path train/trace/traces.otf2");
    tool.options.example("trace-path train/trace/traces.otf2 --from 10s --to 20s -o path");
    return tool.run(argc, argv, analyse);
} catch (...) {
    return base::report_failure("trace-path");
}
