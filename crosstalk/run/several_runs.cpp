// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/run/several_runs.hpp"

#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/words.hpp"
#include "crosstalk/launchers/slurm.hpp"
#include "crosstalk/run/analysis.hpp"
#include "crosstalk/run/designed_run.hpp"
#include "crosstalk/run/request/request_record.hpp"
#include "crosstalk/run/request/run_directory.hpp"
#include "crosstalk/run/results.hpp"

#include <algorithm>
#include <cstdlib>

namespace crosstalk {

namespace {

namespace fs = std::filesystem;

fs::path first_run(const fs::path& set)
{
    return set / (std::string{base::part::one_of_runs} + "1");
}

// The command that extends a run; in a Slurm job, submitting the same script again.
std::string command_of(const Request& request)
{
    if (request.back_end != "step") return "crosstalk run --extend ";
    const std::string script = submitted_script();
    return base::join("sbatch --time={job_minutes} ",
                      base::shell_word(script.empty() ? std::string{"co-schedule.sbatch"} : script), " --extend ");
}

// The request of one run of a set, without exports and --fail-on, which apply to the pooled report.
Request one_of(const Request& request, std::uint64_t seed)
{
    Request one = request;
    one.out = one.whole = next_in(request.out, base::part::one_of_runs, 1);
    one.seed = seed;
    one.cores_seed = request.job_cpus.empty() && request.noise_cpus.empty() ? seed : 0;
    one.again = command_to_extend(one, one.out);
    one.fail_on.clear();
    one.exports = {};
    return one;
}

int report_on_all(const Request& request, const base::CpuSet& cpus)
{
    put_old_report_aside(request);
    const int code = analyse(request, cpus);
    write_status(request, code, "");
    export_results(request);
    return code;
}

// A job that writes its own table (--steps) would find the previous run's table there. A file equal to the copy in the
// previous run is removed; any other file stays, and the run is refused.
void make_room_for_table(const Request& request, const fs::path& before)
{
    const fs::path kept = before / base::part::train / base::file::steps;
    if (request.steps.empty() || !fs::is_regular_file(request.steps) || !fs::is_regular_file(kept)) return;
    if (base::read_whole(request.steps) == base::read_whole(kept)) fs::remove(request.steps);
}

// The last existing directory of DIR, DIR/part-2, DIR/part-3, .., or of DIR/run-1, DIR/run-2, ..
fs::path last_in(const fs::path& directory, const std::string& stem, int first)
{
    fs::path last = directory;
    for (int number = first; fs::exists(directory / (stem + std::to_string(number))); ++number)
        last = directory / (stem + std::to_string(number));
    return last;
}

// A killed run or part has no request.json and ends at any point. It is renamed, so that it is not taken for a complete
// one.
void put_killed_aside(const fs::path& whole, const std::string& stem, int first)
{
    for (int number = first; fs::exists(whole / (stem + std::to_string(number))); ++number) {
        const fs::path one = whole / (stem + std::to_string(number));
        if (fs::exists(one / base::file::request) || is_being_written(one)) continue;
        const fs::path aside = next_in(whole, "failed-", 1);
        base::warn(one.string(), " was killed before its end and is renamed to ", aside.filename().string());
        fs::rename(one, aside);
    }
}

// Makes a further run of a set, or a further part of a run. On failure it is renamed, so that it is not taken for a
// measurement.
int further(const Request& request, const fs::path& whole)
{
    const auto put_aside = [&] {
        if (fs::exists(request.out) && !fs::exists(request.out / base::file::request))
            fs::rename(request.out, next_in(whole, "failed-", 1));
    };
    try {
        const int code = designed_run(request);
        put_aside();
        return code;
    } catch (...) {
        put_aside();
        throw;
    }
}

}  // namespace

std::string command_to_extend(const Request& request, const fs::path& run)
{
    return command_of(request) + base::shell_word(run.string()) + " --duration {missing}s";
}

std::string command_to_extend_set(const Request& request, const fs::path& set)
{
    return command_of(request) + base::shell_word(set.string()) + " --runs {runs}";
}

int several_runs(const Request& request, int runs)
{
    const base::CpuSet allowed = base::allowed_cpus();
    fs::create_directories(request.out);
    for (int run = 1; run <= runs; ++run) {
        base::bind_this_thread(allowed);  // the previous run bound this process to its noise's CPUs
        make_room_for_table(request, last_in(request.out, base::part::one_of_runs, 1));
        const Request one = one_of(request, std::max(request.seed, fresh_seed(request.out)));
        base::warn("run ", run, " of ", runs, ": ", one.out.string());
        const int code = one.out == first_run(request.out) ? designed_run(one) : further(one, request.out);
        const bool measured = fs::exists(one.out / base::file::request);
        if (measured && (code == base::exit_fine || code == base::exit_promise_not_kept)) continue;
        export_failure(request, base::join("run ", run, " failed (", code, ")"));
        return code;
    }
    base::bind_this_thread(allowed);
    return report_on_all(request, allowed);
}

int extended(const Request& request, int runs)
{
    const bool is_set = fs::exists(first_run(request.out) / base::file::request);
    for (const fs::path& run : {request.out, is_set ? first_run(request.out) : request.out})
        for (const fs::path& path : {run, run / base::file::request}) base::refuse_foreign(path);
    Request more = read_request(is_set ? first_run(request.out) : request.out);
    if (request.duration.count() > 0) more.duration = request.duration;
    more.fail_on = request.fail_on;
    more.exports = request.exports;
    more.openmetrics = request.openmetrics;
    more.whole = request.out;
    fs::current_path(more.folder);
    if (!more.python.empty()) ::setenv("PYTHON", more.python.c_str(), 0);
    if (is_set) {
        put_killed_aside(request.out, base::part::one_of_runs, 2);
        more.out = request.out;
        more.again = command_to_extend_set(more, request.out);
        return several_runs(more, runs);
    }
    put_killed_aside(request.out, base::part::added, base::first_added_part);
    make_room_for_table(more, last_in(request.out, base::part::added, base::first_added_part));
    more.out = next_in(request.out, base::part::added, base::first_added_part);
    more.seed = fresh_seed(request.out);
    more.again = command_to_extend(more, request.out);
    return further(more, request.out);
}

}  // namespace crosstalk
