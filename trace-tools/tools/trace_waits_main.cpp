// SPDX-License-Identifier: Apache-2.0
// trace-waits: who waited for whom in MPI, and the resulting efficiencies of the run.
#include "base/contract/trace_names.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/system/conveyor.hpp"
#include "base/system/cpus.hpp"
#include "base/words.hpp"
#include "trace-tools/gpu/analysis/gpu_report.hpp"
#include "trace-tools/otf2/mpi_calls.hpp"
#include "trace-tools/otf2/ranks.hpp"
#include "trace-tools/otf2/read/reader.hpp"
#include "trace-tools/replay/first_pass.hpp"
#include "trace-tools/replay/mpi_replay.hpp"
#include "trace-tools/replay/pop.hpp"
#include "trace-tools/replay/root_causes.hpp"
#include "trace-tools/steps/step_region.hpp"
#include "trace-tools/tools/archive_tool.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <map>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace {

constexpr const char* waits_csv = "waits.csv";
constexpr const char* phases_csv = "phases.csv";
constexpr const char* pop_csv = "pop.csv";

double seconds(std::int64_t ns)
{
    return static_cast<double>(ns) / 1e9;
}

void write_pop(const std::filesystem::path& file, const replay::MpiReplay& replay,
               const std::vector<std::int64_t>& ranks, const std::optional<replay::Efficiencies>& found)
{
    base::CsvWriter pop{file, {"metric", "rank", "value"}, base::CsvWriter::Appear::whole};
    if (found) {
        pop.row("parallel_efficiency", "all", found->parallel());
        pop.row("load_balance", "all", found->load_balance);
        pop.row("communication_efficiency", "all", found->communication());
        pop.row("serialisation_efficiency", "all", found->serialisation);
        pop.row("transfer_efficiency", "all", found->transfer);
    }
    std::size_t location = 0;
    for (const replay::MpiTimes& times : replay.times()) {
        const std::int64_t rank = ranks[location++];
        if (!times.counts()) continue;
        pop.row("run_s", rank, seconds(times.run_ns));
        pop.row("computation_s", rank, seconds(times.run_ns - times.mpi_ns));
        pop.row("mpi_s", rank, seconds(times.mpi_ns));
        pop.row("wait_time_mpi_s", rank, seconds(times.waiting_ns));
    }
    pop.finish();
}

// Wait times of one pattern.
struct Wait {
    replay::WaitSum all;
    std::vector<replay::WaitSum> of_location;
};

using Waits = std::map<replay::Pattern, Wait>;

struct OfRank {
    std::string rank;  // its rank_text()
    std::int64_t ns = 0;
};

// The rank that waited longest (the first one of equals); the threads of a rank are added up.
OfRank longest(const Wait& wait, const otf2::Archive& archive, const std::vector<std::int64_t>& ranks)
{
    std::map<std::pair<std::int64_t, std::string>, std::int64_t> ns_of_rank;
    for (std::size_t location = 0; location < wait.of_location.size(); ++location)
        if (wait.of_location[location].count > 0)
            ns_of_rank[{ranks[location], otf2::rank_text(archive, ranks, static_cast<std::uint32_t>(location))}] +=
                wait.of_location[location].ns;
    const auto most = std::ranges::max_element(
        ns_of_rank, [](const auto& one, const auto& other) { return one.second < other.second; });
    return most == ns_of_rank.end() ? OfRank{} : OfRank{most->first.second, most->second};
}

void print(const Waits& waits, const otf2::Archive& archive, const std::vector<std::int64_t>& ranks,
           const replay::RunTime& run)
{
    if (waits.empty()) {
        std::cout << "no MPI call waited for another rank\n";
        return;
    }
    std::printf("%-24s %14s %7s %10s  %s\n", "wait state", "seconds", "%", "calls", "most on");
    for (const auto& [pattern, wait] : waits) {
        const OfRank most = longest(wait, archive, ranks);
        std::printf("%-24s %14.9f %7.2f %10llu  %s (%.6f s)\n", replay::wait_state(pattern).cube_name,
                    seconds(wait.all.ns), run.percent(seconds(wait.all.ns)),
                    static_cast<unsigned long long>(wait.all.count), most.rank.c_str(), seconds(most.ns));
    }
}

// Prints the time in MPI_Init, which distorts the efficiencies of a short run.
void print_initialisation(const replay::MpiReplay& replay, const otf2::Archive& archive, const replay::RunTime& run)
{
    constexpr double much = 0.1;
    double initialising_s = 0.0;
    for (const auto& [key, ns] : replay.exclusive())
        if (key.where != otf2::nowhere && otf2::mpi_call_name(archive.regions[key.where]).starts_with("MPI_Init"))
            initialising_s += seconds(ns);
    if (initialising_s > much * run.all_s)
        std::printf("MPI_Init takes %.0f %% of all time; exclude it with --region or --from\n",
                    run.percent(initialising_s));
}

// Prints the rank that computes most, if other ranks wait for it.
void print_load_balance(const replay::MpiReplay& replay, const otf2::Archive& archive,
                        const std::vector<std::int64_t>& ranks, double load_balance)
{
    constexpr double worth_a_line = 0.9;
    if (load_balance >= worth_a_line) return;
    const std::vector<replay::MpiTimes> times = replay.times();
    const auto computing = [&](std::size_t i) { return times[i].counts() ? times[i].run_ns - times[i].mpi_ns : -1; };
    std::size_t most = 0;
    for (std::size_t i = 1; i < times.size(); ++i)
        if (computing(i) > computing(most)) most = i;
    std::printf("load balance %.2f: %s computes %.1f x the mean\n", load_balance,
                otf2::rank_text(archive, ranks, static_cast<std::uint32_t>(most)).c_str(), 1.0 / load_balance);
}

// Number of CPUs to which the locations are bound according to the archive; 0 if that is not known for all.
std::size_t cpus_of(const otf2::Archive& archive, const std::vector<std::size_t>& locations)
try {
    base::CpuSet all;
    for (const std::size_t i : locations) {
        const auto& properties = archive.locations[i].properties;
        const auto bound = properties.find(base::property::cpus);
        if (bound == properties.end()) return 0;
        for (const int cpu : base::parse_cpus(bound->second)) all.insert(cpu);
    }
    return all.size();
} catch (const base::Error&) {  // the property is not a list of CPUs
    return 0;
}

void print_oversubscription(const replay::MpiReplay& replay, const otf2::Archive& archive)
{
    std::map<std::uint32_t, std::vector<std::size_t>> ranks;  // locations of each rank, by node
    const std::vector<replay::MpiTimes> times = replay.times();
    for (std::size_t i = 0; i < times.size(); ++i) {
        const std::uint32_t process = archive.locations[i].process;
        if (times[i].counts() && process != otf2::nowhere) ranks[archive.processes[process].node].push_back(i);
    }
    for (const auto& [node, locations] : ranks) {
        const std::size_t cpus = cpus_of(archive, locations);
        if (cpus > 0 && locations.size() > cpus)
            std::printf("%zu ranks on %zu CPUs%s: they also waited for CPUs, so late ranks may be chance\n",
                        locations.size(), cpus,
                        node == otf2::nowhere ? "" : (" of " + base::printable(archive.nodes[node].name)).c_str());
    }
}

void print(const Waits& waits, const replay::MpiReplay& replay, const std::vector<std::int64_t>& ranks,
           const otf2::Archive& archive, const std::optional<replay::Efficiencies>& found, const std::string& part)
{
    if (!found) {
        std::cout << "no MPI in this " << (part.empty() ? "archive" : "part")
                  << (waits.empty() ? ": no wait states and no efficiencies\n" : ": no efficiencies\n");
        for (const auto& [pattern, wait] : waits)
            std::cout << replay::wait_state(pattern).cube_name << ": " << seconds(wait.all.ns) << " s in "
                      << wait.all.count << " calls, most on " << longest(wait, archive, ranks).rank << '\n';
        return;
    }
    const replay::RunTime run = replay::run_time(replay);
    std::printf("%s%s%zu %s, the longest took %.6f s; %% is of the %.6f s of all ranks\n",
                part.empty() ? "" : base::printable(part).c_str(), part.empty() ? "" : ": ", run.ranks,
                run.ranks == 1 ? "rank" : "ranks", run.longest_s, run.all_s);
    print(waits, archive, ranks, run);
    std::fflush(stdout);
    const replay::CriticalPath path = replay.critical_path();
    replay::print_root_causes(std::cout, replay::root_causes(archive, ranks, path.delay), path.unknown_delay, run);
    std::cout.flush();
    std::printf("parallel efficiency %.4f = load balance %.4f x serialisation %.4f x transfer %.4f\n",
                found->parallel(), found->load_balance, found->serialisation, found->transfer);
    print_load_balance(replay, archive, ranks, found->load_balance);
    print_oversubscription(replay, archive);
    if (part.empty()) print_initialisation(replay, archive, run);
}

// The CSV tables of --out. With two or more threads, a separate thread formats their rows.
class Tables {
 public:
    Tables(const std::filesystem::path& directory, const otf2::Archive& archive, const std::vector<std::int64_t>& ranks,
           int threads)
        : directory_{directory}, ranks_{ranks}
    {
        if (directory.empty()) return;
        for (const otf2::Region& region : archive.regions) regions_.emplace_back(region.name);
        for (const otf2::Communicator& one : archive.communicators) communicators_.emplace_back(one.name);
        constexpr auto whole = base::CsvWriter::Appear::whole;
        made_.emplace(directory);
        waits_.emplace(
            directory / waits_csv,
            std::vector<std::string>{"pattern", "communicator", "region", "rank", "step", "seconds", "count"}, whole);
        phases_.emplace(directory / phases_csv, std::vector<std::string>{"region", "rank", "step", "seconds"}, whole);
        if (threads > 1)
            rows_.emplace([this](const std::vector<Row>& rows) {
                for (const Row& row : rows) write(row);
            });
    }

    void wait(const replay::WaitKey& key, const replay::WaitSum& sum)
    {
        if (waits_) add(WaitRow{key, sum});
    }
    void phase(const replay::PhaseTime& phase)
    {
        if (phases_) add(phase);
    }
    void finish(const replay::MpiReplay& replay, const std::optional<replay::Efficiencies>& found)
    {
        if (directory_.empty()) return;
        if (rows_) rows_->finish();
        write_pop(directory_ / pop_csv, replay, ranks_, found);
        waits_->finish();
        phases_->finish();
    }

 private:
    using WaitRow = std::pair<replay::WaitKey, replay::WaitSum>;
    using Row = std::variant<WaitRow, replay::PhaseTime>;

    void add(const Row& row)
    {
        constexpr std::size_t rows_at_once = 2048;
        if (!rows_) return write(row);
        rows_->chunk().push_back(row);
        if (rows_->chunk().size() == rows_at_once) rows_->pass_on();
    }

    void write(const Row& row)
    {
        if (const auto* phase = std::get_if<replay::PhaseTime>(&row)) {
            static const base::CsvText other{"other"};  // time in no region, if steps last from call to call
            phases_->row(phase->where == otf2::nowhere ? other : regions_[phase->where], ranks_[phase->location],
                         phase->step, base::CsvSeconds{phase->ns});
            return;
        }
        const auto& [key, sum] = std::get<WaitRow>(row);
        static const base::CsvText none{""};
        const base::CsvText& communicator = key.communicator == otf2::nowhere ? none : communicators_[key.communicator];
        waits_->row(replay::wait_state(key.pattern).cube_name, communicator, regions_[key.where], ranks_[key.location],
                    key.step, base::CsvSeconds{sum.ns}, sum.count);
    }

    std::filesystem::path directory_;
    const std::vector<std::int64_t>& ranks_;
    std::vector<base::CsvText> regions_;
    std::vector<base::CsvText> communicators_;
    std::optional<base::MadeDirectories> made_;
    std::optional<base::CsvWriter> waits_;
    std::optional<base::CsvWriter> phases_;
    std::optional<base::Conveyor<std::vector<Row>>> rows_;
};

int analyse(const ArchiveTool& tool)
{
    const otf2::StepChoice choice{.region = tool.step_region, .from = tool.step_from};
    choice.check();
    tool.refuse_taken({waits_csv, phases_csv, pop_csv});
    otf2::Reader reader{tool.anchor};
    const otf2::Archive& archive = reader.archive();
    std::uint32_t step = otf2::nowhere;  // nowhere: regions with an attribute `step`, if any
    std::uint32_t step_from = otf2::nowhere;
    if (!choice.region.empty()) step = otf2::step_region_named(archive, choice.region);
    if (!choice.from.empty()) step_from = otf2::step_region_named(archive, choice.from, "--step-from");
    const bool looks_for_steps =
        !tool.out().empty() && !choice.given() && !archive.find_attribute(base::attribute::step);
    replay::FirstPass first{reader, {.steps = looks_for_steps, .threads = tool.threads.count}};
    if (looks_for_steps) step = first.steps().region.value_or(otf2::nowhere);
    if (looks_for_steps) step_from = first.steps().call.value_or(otf2::nowhere);
    const std::vector<std::int64_t> ranks = otf2::ranks_of_locations(archive);
    Waits totals;
    Tables tables{tool.out(), archive, ranks, tool.threads.count};
    const auto add_wait = [&](const replay::WaitKey& key, const replay::WaitSum& sum) {
        tables.wait(key, sum);
        Wait& total = totals[key.pattern];
        total.all.ns += sum.ns;
        total.all.count += sum.count;
        total.of_location.resize(archive.locations.size());
        total.of_location[key.location].ns += sum.ns;
        total.of_location[key.location].count += sum.count;
    };
    const otf2::Part part = otf2::part_of(reader, tool.part);
    gpu::Report gpus{reader, choice, part, tool.out()};
    replay::MpiReplay replay{archive,
                             first.take_started(),
                             {.critical_path = true,
                              .step_region = step,
                              .step_from = step_from,
                              .phases = [&](const replay::PhaseTime& phase) { tables.phase(phase); },
                              .part = part,
                              .threads = tool.threads.count,
                              .meanwhile = [&] { return first.help(); }},
                             add_wait};
    replay::replay_archive(first, replay, tool.name, gpus.visitor());
    const std::optional<replay::Efficiencies> found = replay::efficiencies(replay.times());
    tables.finish(replay, found);
    gpus.finish();
    print(totals, replay, ranks, archive, found, tool.part.text());
    std::fflush(stdout);
    gpus.print(std::cout);
    return base::exit_fine;
}

}  // namespace

int main(int argc, char** argv)
try {
    ArchiveTool tool{"trace-waits", "finds wait states of an MPI program in its OTF2 archive",
                     "directory for waits.csv, phases.csv and pop.csv",
                     "steps are the visits of this region (default: found as in trace-steps)"};
    tool.options.add("step-from", tool.step_from,
                     "a step lasts from the end of one call of this region to the end of the next", "NAME");
    tool.threads.add_to(tool.options);
    tool.options.section(
        {.title = "On the terminal",
         .entries = {
             {"wait states", "seconds summed over ranks, and percent of the time of all ranks"},
             {"rank N made the others wait",
              "its delay costs (see trace-path) in percent of the time of all ranks, and the regions in which it "
              "was late"},
             {"load balance", "if below 0.9: the rank that computes longest, relative to the mean"},
             {"N ranks on M CPUs", "a node with more ranks than CPUs, if the archive has the ranks' CPUs"},
         }});
    tool.options.section(
        {.title = "A part of the run",
         .text = "--region, --from and --to restrict all sums to a part: waits and MPI calls are clipped at its ends, "
                 "efficiencies are of the part, as Cube's of a call path, and phases are of steps that lie completely "
                 "in it. Wait states are always found from the whole run."});
    tool.options.section(
        {.title = "Tables",
         .entries = {
             {"waits.csv",
              "a row per wait: pattern (by Cube's names, such as mpi_latesender), communicator, region "
              "(the MPI call), rank, step (-1 outside of steps), seconds, count (of calls)"},
             {"phases.csv",
              "time of each step by region: region, rank, step, seconds; regions directly inside a step, and the "
              "step's own region for the rest, so that they add up to the step"},
             {"pop.csv", "POP efficiencies, 1 is best: metric, rank ('all' for the run), value; empty without MPI"},
         }});
    tool.options.section(
        {.title = "Patterns without a name in Cube",
         .text = "With a communication thread, the patterns belong to that thread; other threads' waiting for it is "
                 "time in their own regions.",
         .entries = {
             {"mpi_icollective_exposed", "time in calls that wait or test for a non-blocking collective"},
             {"mpi_icollective_wait", "the part of this in which some rank had not yet started the collective"},
         }});
    tool.options.section(
        {.title = "Metrics of pop.csv",
         .text = "For the thread of each rank that calls MPI; computing by other threads does not count.",
         .entries = {
             {"run_s, mpi_s", "time from the first ENTER to the last LEAVE (within the part); time in MPI calls"},
             {"computation_s", "run_s - mpi_s"},
             {"wait_time_mpi_s", "time in MPI calls waiting for another rank"},
             {"load_balance", "mean / longest computation"},
             {"serialisation_efficiency",
              "longest computation / longest time outside of transfer, which is mpi_s - wait_time_mpi_s"},
             {"transfer_efficiency", "longest time outside of transfer / longest run"},
             {"communication_efficiency", "serialisation x transfer: longest computation / longest run"},
             {"parallel_efficiency", "load balance x communication: mean computation / longest run"},
         }});
    tool.options.epilogue(
        "Events are spilled to temporary files (TMPDIR), about half the archive's size; without space there, the "
        "archive is read twice.");
    tool.options.example("trace-waits train/trace/traces.otf2");
    tool.options.example("trace-waits train/trace/traces.otf2 --region step -o waits");
    return tool.run(argc, argv, analyse);
} catch (...) {
    return base::report_failure("trace-waits");
}
