// trace-path: the critical path of an MPI program, where it is out of balance, and what made others wait.
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/options.hpp"
#include "trace-tools/otf2/confined.hpp"
#include "trace-tools/otf2/reader.hpp"
#include "trace-tools/patterns/imbalance.hpp"
#include "trace-tools/patterns/mpi_replay.hpp"
#include "trace-tools/patterns/ranks.hpp"
#include "trace-tools/patterns/replay_archive.hpp"

#include <cstdio>
#include <filesystem>
#include <map>
#include <utility>

namespace {

struct Row {
    double seconds = 0.0;
    double imbalance_s = 0.0;
    double delay_cost_s = 0.0;
    double indirect_s = 0.0;
};

int analyse(const std::string& anchor, const std::filesystem::path& out)
{
    otf2::Reader reader{anchor};
    const otf2::Archive& archive = reader.archive();
    const std::vector<std::int64_t> ranks = otf2::ranks_of_locations(archive);
    otf2::MpiReplay replay{reader, {.critical_path = true}, [](const otf2::WaitKey&, const otf2::WaitSum&) {}};
    otf2::replay_archive(reader, replay, "trace-path");
    const otf2::CriticalPath path = replay.critical_path();
    const std::map<otf2::PathKey, double> imbalance = otf2::critical_path_imbalance(path, replay);

    // A rank's threads together.
    std::map<std::pair<std::uint32_t, std::int64_t>, Row> rows;
    double length_s = 0.0;
    for (const auto& [key, ns] : path.ns) {
        Row& row = rows[{key.where, ranks[key.location]}];
        row.seconds += static_cast<double>(ns) / 1e9;
        row.imbalance_s += imbalance.at(key);
        length_s += static_cast<double>(ns) / 1e9;
    }
    for (const auto& [key, seconds] : path.delay) rows[{key.where, ranks[key.location]}].delay_cost_s += seconds;
    for (const auto& [key, seconds] : path.indirect_delay) rows[{key.where, ranks[key.location]}].indirect_s += seconds;
    std::map<std::int64_t, double> unknown;
    for (const auto& [key, seconds] : path.unknown_delay) unknown[ranks[key.location]] += seconds;
    const base::MadeDirectories made{out};
    base::CsvWriter table{
        out / "path.csv",
        {"region", "rank", "seconds", "imbalance_seconds", "delay_cost_seconds", "direct_seconds", "indirect_seconds"},
        base::CsvWriter::Appear::whole};
    for (const auto& [key, row] : rows)
        table.row(key.first == otf2::nowhere ? "(outside of regions)" : archive.regions[key.first].name, key.second,
                  row.seconds, row.imbalance_s, row.delay_cost_s, row.delay_cost_s - row.indirect_s, row.indirect_s);
    for (const auto& [rank, seconds] : unknown) table.row("(cause unknown)", rank, 0.0, 0.0, seconds, seconds, 0.0);
    table.finish();
    std::printf("critical path %.9f s; from the first event to the last %.9f s\n", length_s,
                static_cast<double>(path.length_ns) / 1e9);
    base::flush_stdout();
    return base::exit_fine;
}

}  // namespace

int main(int argc, char** argv)
try {
    std::string anchor;
    std::string out;
    base::Options options{"trace-path", "critical path and root causes of waiting, from an OTF2 archive"};
    options.add_positional("X.otf2", anchor, "the archive's anchor file, such as traces.otf2");
    options.add("out,o", out, "where path.csv goes; must be given", "DIR");
    options.section({.title = "Columns of path.csv",
                     .text = "",
                     .entries = {
                         {"region, rank",
                          "where the time was spent, by all threads of the rank; '(outside of regions)' is where a "
                          "thread was in none, '(cause unknown)' what the rank waited without a known cause"},
                         {"seconds", "on the critical path; they add up to the time from the first event to the last"},
                         {"imbalance_seconds", "what the region has on the path beyond its mean over the ranks"},
                         {"delay_cost_seconds",
                          "how long others waited because of it, Scalasca's delay cost; all of them add up to all "
                          "waiting (without completion), as trace-waits finds it"},
                         {"direct_seconds, indirect_seconds",
                          "the parts of the delay cost that those waited who waited for this rank, and that others "
                          "waited for those in turn"},
                     }});
    options.epilogue(
        "Between the threads of a process the path goes where regions of the program's own have OTF2's roles for it: "
        "from TASK_CREATE to the TASK of another thread, from that to the TASK_WAIT that it ends in. Where threads "
        "meet "
        "in rounds by the clock, as those of ddl-train's strategy cycle do, who was late is lost among the rounds. "
        "Where the archive "
        "has many locations, its events are put aside in the directory for temporary files (TMPDIR): about half its "
        "size.");
    options.example("trace-path train/trace/traces.otf2 -o path");
    if (!options.parse(argc, argv)) return base::exit_fine;
    if (out.empty()) base::fail_usage("--out says where the table goes");

    return otf2::confined("trace-path", otf2::limits_for(anchor), [&] { return analyse(anchor, out); });
} catch (...) {
    return base::report_failure("trace-path");
}
