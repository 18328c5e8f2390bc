// trace-waits: who waited for whom in MPI, and how efficient that leaves the run.
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/options.hpp"
#include "trace-tools/otf2/confined.hpp"
#include "trace-tools/otf2/reader.hpp"
#include "trace-tools/patterns/mpi_replay.hpp"
#include "trace-tools/patterns/pop.hpp"
#include "trace-tools/patterns/ranks.hpp"
#include "trace-tools/patterns/replay_archive.hpp"
#include "trace-tools/patterns/step_region.hpp"

#include <cstdio>
#include <filesystem>
#include <map>

namespace {

double seconds(std::int64_t ns)
{
    return static_cast<double>(ns) / 1e9;
}

// nowhere: what has an attribute `step`, if anything.
std::uint32_t step_region(otf2::Reader& reader, const std::string& named)
{
    if (!named.empty()) return otf2::step_region_named(reader.archive(), named);
    if (reader.archive().find_attribute("step")) return otf2::nowhere;
    return otf2::find_step_region(reader).value_or(otf2::nowhere);
}

void write_pop(const std::filesystem::path& file, const otf2::MpiReplay& replay, const std::vector<std::int64_t>& ranks,
               const std::optional<otf2::Efficiencies>& found)
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
    for (const otf2::MpiTimes& times : replay.times()) {
        const std::int64_t rank = ranks[location++];
        if (times.mpi_ns == 0) continue;
        pop.row("run_s", rank, seconds(times.last_ns - times.first_ns));
        pop.row("computation_s", rank, seconds(times.last_ns - times.first_ns - times.mpi_ns));
        pop.row("mpi_s", rank, seconds(times.mpi_ns));
        pop.row("wait_time_mpi_s", rank, seconds(times.waiting_ns));
    }
    pop.finish();
}

void print(const std::map<otf2::Pattern, otf2::WaitSum>& waits, const std::optional<otf2::Efficiencies>& found)
{
    if (!found) {
        std::printf("no MPI in this archive: no wait states and no efficiencies\n");
        return;
    }
    for (const auto& [pattern, sum] : waits)
        std::printf("%-24s %14.9f s in %llu calls\n", otf2::cube_name(pattern), seconds(sum.ns),
                    static_cast<unsigned long long>(sum.count));
    if (waits.empty()) std::printf("no MPI call waited for another rank\n");
    std::printf("parallel efficiency %.4f = load balance %.4f x serialisation %.4f x transfer %.4f\n",
                found->parallel(), found->load_balance, found->serialisation, found->transfer);
}

int analyse(const std::string& anchor, const std::filesystem::path& out, const std::string& named)
{
    otf2::Reader reader{anchor};
    const otf2::Archive& archive = reader.archive();
    const std::uint32_t step = step_region(reader, named);
    const std::vector<std::int64_t> ranks = otf2::ranks_of_locations(archive);
    const base::MadeDirectories made{out};
    constexpr auto whole = base::CsvWriter::Appear::whole;
    base::CsvWriter waits{
        out / "waits.csv", {"pattern", "communicator", "region", "rank", "step", "seconds", "count"}, whole};
    base::CsvWriter phases{out / "phases.csv", {"region", "rank", "step", "seconds"}, whole};
    std::map<otf2::Pattern, otf2::WaitSum> totals;
    const auto write_phase = [&](const otf2::PhaseTime& phase) {
        phases.row(archive.regions[phase.where].name, ranks[phase.location], phase.step, seconds(phase.ns));
    };
    const auto write_wait = [&](const otf2::WaitKey& key, const otf2::WaitSum& sum) {
        waits.row(otf2::cube_name(key.pattern), archive.communicators[key.communicator].name,
                  archive.regions[key.where].name, ranks[key.location], key.step, seconds(sum.ns), sum.count);
        otf2::WaitSum& total = totals[key.pattern];
        total.ns += sum.ns;
        total.count += sum.count;
    };
    otf2::MpiReplay replay{reader, {.step_region = step, .phases = write_phase}, write_wait};
    otf2::replay_archive(reader, replay, "trace-waits");
    const std::optional<otf2::Efficiencies> found = otf2::efficiencies(replay.times());
    print(totals, found);
    write_pop(out / "pop.csv", replay, ranks, found);
    waits.finish();
    phases.finish();
    base::flush_stdout();
    return base::exit_fine;
}

}  // namespace

int main(int argc, char** argv)
try {
    std::string anchor;
    std::string out;
    std::string step_region;
    base::Options options{"trace-waits", "wait states of an MPI program, from its OTF2 archive"};
    options.add_positional("X.otf2", anchor, "the archive's anchor file, such as traces.otf2");
    options.add("out,o", out, "where waits.csv, phases.csv and pop.csv go; must be given", "DIR");
    options.add("step-region", step_region,
                "steps are the visits of this region; if not given, of the one that trace-steps finds", "NAME");
    options.section(
        {.title = "Tables",
         .text = "",
         .entries = {
             {"waits.csv",
              "what was waited for: pattern (by Cube's names, such as mpi_latesender), communicator, region "
              "(the MPI call), rank, step (-1 outside of steps), seconds, count (of calls)"},
             {"phases.csv",
              "what the time of each step went into: region, rank, step, seconds; time in each region "
              "directly inside a step, and in the step's own region outside of those: they add up to "
              "the step"},
             {"pop.csv",
              "POP's efficiencies, 1 is best: metric, rank ('all' for the run), value; only the header if no "
              "rank was in MPI"},
         }});
    options.section(
        {.title = "Patterns that Cube has no name for",
         .text = "Of a program whose communication has a thread of its own they are that thread's; what of it the "
                 "others wait for is time in regions of theirs.",
         .entries = {
             {"mpi_icollective_exposed", "time in calls that wait or test for a non-blocking collective"},
             {"mpi_icollective_wait", "the part of it in which some rank had not yet started the collective"},
         }});
    options.section(
        {.title = "Metrics of pop.csv",
         .text = "Of the thread of each rank that calls MPI: what other threads compute meanwhile does not count.",
         .entries = {
             {"run_s, mpi_s", "from the first event to the last; in MPI calls"},
             {"computation_s", "run_s - mpi_s"},
             {"wait_time_mpi_s", "in MPI calls until another rank came"},
             {"load_balance", "mean / longest computation"},
             {"serialisation_efficiency",
              "longest computation / longest time outside of transfer, which is mpi_s - wait_time_mpi_s"},
             {"transfer_efficiency", "longest time outside of transfer / longest run"},
             {"communication_efficiency", "serialisation x transfer: longest computation / longest run"},
             {"parallel_efficiency", "load balance x communication: mean computation / longest run"},
         }});
    options.epilogue(
        "Where the archive has many locations, its events are put aside in the directory for temporary files "
        "(TMPDIR): about half its size.");
    options.example("trace-waits train/trace/traces.otf2 -o waits");
    if (!options.parse(argc, argv)) return base::exit_fine;
    if (out.empty()) base::fail_usage("--out says where the tables go");

    return otf2::confined("trace-waits", otf2::limits_for(anchor), [&] { return analyse(anchor, out, step_region); });
} catch (...) {
    return base::report_failure("trace-waits");
}
