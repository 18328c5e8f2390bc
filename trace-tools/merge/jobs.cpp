// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/merge/jobs.hpp"

#include "base/contract/trace_names.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/system/launcher.hpp"
#include "base/words.hpp"
#include "trace-tools/otf2/write/recorder.hpp"

#include <algorithm>
#include <cstdint>

namespace merge {

namespace {

constexpr const char* trials = "trials";

struct Job {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    std::string cpus;
    std::string name;
};

// Jobs on the same CPUs that do not overlap.
struct JobRow {
    std::string cpus;
    otf2::LocationRecorder* location = nullptr;
};

otf2::LocationRecorder& row_for(std::vector<JobRow>& rows, const Job& job, otf2::Recorder& recorder)
{
    int same = 0;
    for (const JobRow& row : rows) {
        if (row.cpus != job.cpus) continue;
        if (row.location->last_ns() <= job.begin_ns) return *row.location;
        ++same;
    }
    const std::string name = "cpus " + job.cpus + (same > 0 ? base::join(" (", same + 1, ")") : "");
    rows.push_back({job.cpus, &recorder.location(name)});
    return *rows.back().location;
}

}  // namespace

std::vector<std::string> write_job_archive(const std::filesystem::path& table, const std::filesystem::path& directory)
{
    const base::CsvTable rows{table};
    const std::string host = base::host_name();
    std::vector<Job> jobs;
    std::size_t elsewhere = 0;
    std::size_t without_end = 0;
    for (std::size_t row = 0; row < rows.rows(); ++row) {
        if (rows.text(row, "begin_ns").empty() || rows.text(row, "end_ns").empty()) {
            ++without_end;
            continue;
        }
        if (rows.text(row, "host") != host) {
            ++elsewhere;
            continue;
        }
        Job job{.begin_ns = rows.get<std::int64_t>(row, "begin_ns"),
                .end_ns = rows.get<std::int64_t>(row, "end_ns"),
                .cpus = rows.text(row, "cpus"),
                .name = base::join("trial ", rows.text(row, "trial"), ", ", rows.text(row, "state"))};
        if (job.begin_ns < 0 || job.end_ns < job.begin_ns)
            base::fail(rows.place(row, "end_ns"), ": the trial ends before it begins");
        jobs.push_back(std::move(job));
    }
    std::vector<std::string> notes;
    const auto note = [&](std::size_t count, const char* why) {
        if (count > 0) notes.push_back(base::join(table.string(), ": ", count, " trials ", why));
    };
    note(elsewhere, "ran on other machines and are left out");
    note(without_end, "did not end and are left out");
    if (jobs.empty()) base::fail(table.string(), " has no trial that ended on ", host);
    std::sort(jobs.begin(), jobs.end(), [](const Job& one, const Job& other) { return one.begin_ns < other.begin_ns; });
    otf2::Recorder recorder{directory, std::make_unique<otf2::SoloTeam>(), base::join(trials, " on ", host)};
    recorder.property(base::property::watches, trials);
    std::vector<JobRow> locations;
    for (const Job& job : jobs) {
        otf2::LocationRecorder& location = row_for(locations, job, recorder);
        const otf2::RegionRef region = recorder.in_group(trials, recorder.region(job.name));
        location.enter(region, job.begin_ns);
        location.leave(region, job.end_ns);
    }
    recorder.finish();
    return notes;
}

}  // namespace merge
