// SPDX-License-Identifier: Apache-2.0
// trace-merge: puts a training and its noise on one time line, for Vampir and other readers of OTF2.
#include "base/cli/option_checks.hpp"
#include "base/cli/options.hpp"
#include "base/contract/os_table.hpp"
#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "trace-tools/merge/jobs.hpp"
#include "trace-tools/merge/markers.hpp"
#include "trace-tools/merge/merge.hpp"
#include "trace-tools/otf2/read/confined.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>

namespace {

namespace fs = std::filesystem;

// The archives of a run that is given as its directory: the training's, then the noise's and those of trace-os.
std::vector<std::string> archives_of(const fs::path& run)
{
    const fs::path training = run / base::part::train / base::file::anchor_in_part;
    if (!fs::exists(training))
        base::fail_usage(run.string(), " is not the directory of a run: it has no ", training.string());
    std::vector<std::string> archives;
    for (const char* part : {base::part::noise, base::os::folder})
        if (fs::is_directory(run / part))
            for (const fs::directory_entry& process : fs::directory_iterator{run / part})
                if (const fs::path archive = process.path() / base::file::anchor_in_part; fs::exists(archive))
                    archives.push_back(archive.string());
    std::sort(archives.begin(), archives.end());
    archives.insert(archives.begin(), training.string());
    return archives;
}

// A noise archive given twice would count twice.
void refuse_repeated(const std::vector<std::string>& archives)
{
    for (std::size_t i = 0; i < archives.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) {
            std::error_code missing;
            if (fs::equivalent(archives[i], archives[j], missing)) base::fail_usage(archives[i], " is named twice");
        }
}

// A directory with a temporary name until it is complete.
class Unfinished {
 public:
    explicit Unfinished(const std::string& directory) : whole_{fs::path{directory + "/"}.parent_path()}, path_{whole_}
    {
        path_ += ".tmp";
        base::refuse_taken(whole_);
        parents_.emplace(whole_.parent_path());
        if (!fs::create_directory(path_))
            base::fail_usage(path_.string(),
                             " already exists: it belongs to a running merge, or to a killed one (then remove it)");
    }
    ~Unfinished()
    {
        std::error_code ignored;
        if (!path_.empty()) base::remove_tree(path_, ignored);
    }
    Unfinished(const Unfinished&) = delete;
    Unfinished& operator=(const Unfinished&) = delete;

    const fs::path& path() const { return path_; }
    const fs::path& whole() const { return whole_; }
    void finish()
    {
        fs::rename(path_, whole_);
        path_.clear();
    }

 private:
    fs::path whole_;
    fs::path path_;
    std::optional<base::MadeDirectories> parents_;
};

int merge_all(merge::MergePlan plan, const fs::path& jobs, const fs::path& report, merge::Marked marked,
              const fs::path& directory, const fs::path& shown)
{
    const fs::path of_jobs = directory / "jobs";
    if (!jobs.empty()) {
        for (const std::string& note : merge::write_job_archive(jobs, of_jobs)) base::warn(note);
        plan.noise.push_back(of_jobs / base::file::anchor);
    }
    const merge::Merged merged = merge::merge_traces(plan, directory);
    base::remove_tree(of_jobs);
    for (const std::string& note : merged.notes) base::warn(note);
    const std::size_t markers =
        report.empty() ? 0 : merge::write_markers(directory / base::file::anchor, report, merged.others, marked);
    std::printf("%s: %zu locations, %llu events, %.3f s\n", (shown / base::file::anchor).c_str(), merged.locations,
                static_cast<unsigned long long>(merged.events), merged.length_s);
    if (!report.empty()) std::printf("%zu markers of effects in %s\n", markers, report.c_str());
    base::flush_stdout();
    return base::exit_fine;
}

}  // namespace

int main(int argc, char** argv)
try {
    std::vector<std::string> archives;
    std::string out;
    std::string jobs;
    std::string report;
    std::string clock_offset;
    bool all_markers = false;
    base::Options options{"trace-merge", "merges a training and its noise into one OTF2 archive on one time line"};
    options.add_positional(
        "RUN|TRAIN.otf2 NOISE.otf2", archives,
        "the directory of a run, or the training's anchor file, then the noise's and those of trace-os");
    options.add("out,o", out, "directory for the merged archive traces.otf2; must not exist", "DIR");
    options.add("jobs", jobs, "sweep.csv of crosstalk sweep on this machine: its trials, on the CPUs they had", "FILE");
    options.add(
        "report", report,
        "report of interference on these two; adds a marker to each slot whose noise lengthens the step beyond the "
        "budget",
        "DIR");
    options.add_switch("all-markers", all_markers,
                       "with --report: a marker for each significant effect, also on phases and single ranks");
    options.add("clock-offset", clock_offset,
                "training's clock - noise's clock, such as 1.5s or -20ms, if they have different clocks", "TIME");
    options.section(
        {.title = "What the merged archive has",
         .text =
             "First the noise's processes, called 'noise on HOST', with their rates as metrics of the node, and 'threads "
             "on HOST', where trace-os saw them kept from running, then the training's. Those of --jobs are 'trials on "
             "HOST'. Processes and locations are renumbered; other numbers are the training's. Markers, snapshots and "
             "thumbnails are dropped. Noise that does not overlap the training is merged with a warning.",
         .entries = {}});
    options.example("trace-merge run1 -o run1/merged");
    options.example("trace-merge TRAIN.otf2 --jobs sweep/sweep.csv -o merged");
    options.example(
        "trace-merge TRAIN.otf2 NOISE.otf2 --report run1/report -o merged && otf2-marker merged/traces.otf2");
    if (!options.parse(argc, argv)) return base::exit_fine;
    if (out.empty()) base::fail_usage("give --out DIR for the archive");
    if (all_markers && report.empty()) base::fail_usage("--all-markers needs --report DIR");
    if (archives.size() == 1 && fs::is_directory(archives.front())) archives = archives_of(archives.front());
    if (archives.size() < 2 && jobs.empty())
        base::fail_usage("give the directory of a run, or the noise's archives after the training's, or --jobs");
    refuse_repeated(archives);
    const merge::MergePlan plan{.training = archives.front(),
                                .noise = {archives.begin() + 1, archives.end()},
                                .clock_offset_ns = clock_offset.empty() ? std::nullopt
                                                                        : std::optional{base::parsed_difference_ns(
                                                                              "--clock-offset", clock_offset)}};
    otf2::Limits limits;
    for (const std::string& archive : archives) {
        const std::uint64_t least = otf2::Limits{}.memory_bytes;
        limits.memory_bytes += otf2::limits_for(archive).memory_bytes - least;
    }

    Unfinished directory{out};
    const int code = otf2::confined("trace-merge", limits, [&] {
        return merge_all(plan, jobs, report, all_markers ? merge::Marked::all : merge::Marked::beyond_budget,
                         directory.path(), directory.whole());
    });
    if (code == base::exit_fine) directory.finish();
    return code;
} catch (...) {
    return base::report_failure("trace-merge");
}
