// SPDX-License-Identifier: Apache-2.0
// trace-cube: converts an OTF2 archive to a call-path profile for Cube, or compares two archives (quiet and noisy).
#include "base/cli/options.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/words.hpp"
#include "trace-tools/cube/archive_profile.hpp"
#include "trace-tools/cube/comparison.hpp"
#include "trace-tools/cube/cubex.hpp"
#include "trace-tools/otf2/read/confined.hpp"
#include "trace-tools/tools/threads_option.hpp"

#include <cstdio>
#include <numeric>

namespace {

constexpr double time_tolerance = 1e-5;

cube::ArchiveProfile profile_of(const std::string& anchor, const Threads& threads)
{
    otf2::Reader reader{anchor};
    cube::ArchiveProfile found = cube::profile_of(reader, threads.count);
    otf2::getting_on();
    for (const std::string& problem : found.problems) base::warn(anchor, ": ", problem);
    return found;
}

void write(const std::string& out, const cube::CubeProfile& profile)
{
    cube::write_cubex(out, profile);
    std::printf("wrote %s: %zu metrics of %zu call paths on %zu locations\n", out.c_str(), profile.metrics.size(),
                profile.call_paths.size(), profile.locations.size());
}

void print(const char* what, const cube::InBoth& found)
{
    std::printf("%-11s %zu in both, %zu only in the archive, %zu only in the profile\n", what, found.both, found.first,
                found.second);
}

void print(const char* what, const cube::Apart& apart)
{
    if (apart.most == 0.0)
        std::printf("%-11s equal\n", what);
    else
        std::printf("%-11s largest relative difference %.3g (%s)\n", what, apart.most,
                    base::printable(apart.where).c_str());
}

int check(const cube::ArchiveProfile& ours, const std::string& file)
{
    const cube::CubeProfile theirs = cube::read_cubex(file, {"visits", "time"});
    const cube::Agreement found = cube::agreement(ours.profile, theirs, ours.tick_s);
    print("call paths", found.call_paths);
    print("regions", found.regions);
    print("locations", found.locations);
    print("visits", found.visits);
    print("time", found.time);
    return found.visits.most == 0.0 && found.time.most <= time_tolerance ? base::exit_fine
                                                                         : base::exit_promise_not_kept;
}

double total(const cube::CubeProfile& profile, const char* metric)
{
    double sum = 0.0;
    for (const auto& [path, row] : profile.find_metric(metric)->rows)
        if (!profile.call_paths[path].parent) sum = std::accumulate(row.begin(), row.end(), sum);
    return sum;
}

int compare(const std::vector<std::string>& anchors, const Threads& threads, const std::string& out, bool derived)
{
    const cube::CubeProfile quiet = profile_of(anchors.front(), threads).profile;
    const cube::CubeProfile noisy = profile_of(anchors.back(), threads).profile;
    const cube::InBoth found = cube::call_paths_in_both(quiet, noisy);
    if (found.both == 0)
        base::warn("the archives have no call path in common (", found.first, " and ", found.second,
                   "), so they cannot be compared");
    const cube::CubeProfile both = cube::compared(quiet, noisy, derived);
    write(out, both);
    std::printf("call paths  %zu in both, %zu only in the quiet run, %zu only in the noisy one\n", found.both,
                found.first, found.second);
    std::printf("time %.9f s quiet, %.9f s noisy\n", total(both, "quiet_time"), total(both, "noisy_time"));
    return base::exit_fine;
}

}  // namespace

int main(int argc, char** argv)
try {
    std::vector<std::string> anchors;
    std::string out;
    std::string against;
    bool slowdown = false;
    Threads threads;
    base::Options options{"trace-cube", "computes call-path profiles for Cube from OTF2 archives"};
    options.add_positional("X.otf2 [NOISY.otf2]", anchors,
                           "the archive's anchor file; with two archives, first the quiet run's", 1, 2);
    options.add("out,o", out, "the profile to write; must not exist", "FILE");
    options.add("against", against, "compare the archive with this profile of the same run, e.g. Score-P's", "FILE");
    options.add_switch("slowdown", slowdown,
                       "with two archives: add noisy / quiet time as a derived metric, which pycubexr cannot read");
    threads.add_to(options);
    options.section(
        {.title = "Metrics",
         .entries = {
             {"visits, time, min_time, max_time",
              "per call path and location; the root holds what is outside of all regions"},
             {"mpi_latesender, mpi_wait_nxn, ...", "for MPI programs: wait states by Cube's names, parts of time"},
             {"critical_path, critical_path_imbalance, delay", "for MPI programs: as in trace-path"},
             {"quiet_..., noisy_..., difference_...", "with two archives: each metric of both, and noisy - quiet"},
             {"slowdown", "with --slowdown: noisy / quiet time of the selection in Cube"},
         }});
    options.epilogue(
        "Two archives should be of runs that do the same work. Call paths are matched by region names, locations by "
        "rank and thread name. --against: exit code 3 if visits differ, or times differ by more than 1e-5 of the "
        "larger one and by more than one clock tick per visit.");
    options.example("trace-cube train/trace/traces.otf2 -o train.cubex");
    options.example("trace-cube quiet/train/trace/traces.otf2 noisy/train/trace/traces.otf2 -o slowdown.cubex");
    options.example("trace-cube scorep/traces.otf2 --against scorep/profile.cubex");
    if (!options.parse(argc, argv)) return base::exit_fine;
    threads.check();
    if (anchors.size() == 2 && !against.empty()) base::fail_usage("--against takes one archive");
    if (anchors.size() == 1 && slowdown) base::fail_usage("--slowdown takes two archives, of a quiet and a noisy run");
    if (out.empty() && against.empty()) base::fail_usage("give --out FILE for the profile");
    if (!out.empty()) base::refuse_taken(out);

    otf2::Limits limits;
    for (const std::string& anchor : anchors) limits.memory_bytes += otf2::limits_for(anchor).memory_bytes;
    return otf2::confined("trace-cube", limits, [&] {
        int code = base::exit_fine;
        if (anchors.size() == 2) {
            code = compare(anchors, threads, out, slowdown);
        } else {
            const cube::ArchiveProfile profile = profile_of(anchors.front(), threads);
            if (!out.empty()) write(out, profile.profile);
            if (!against.empty()) code = check(profile, against);
        }
        base::flush_stdout();
        return code;
    });
} catch (...) {
    return base::report_failure("trace-cube");
}
