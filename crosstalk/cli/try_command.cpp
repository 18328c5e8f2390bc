// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "base/system/cpus.hpp"
#include "base/system/stop.hpp"
#include "base/system/temporary_directory.hpp"
#include "crosstalk/cli/commands.hpp"
#include "crosstalk/cli/run_options.hpp"
#include "crosstalk/run/request/run_directory.hpp"
#include "crosstalk/run/try_run.hpp"

#include <filesystem>
#include <optional>

namespace crosstalk {

TryCommand::TryCommand()
    : Command{"crosstalk try", "runs a job without noise for some seconds, and reports what a run with noise needs"}
{
    options.add_positional("COMMAND", request_.command, "the job and its arguments, after --", 0);
    options.synopsis("[options] -- COMMAND [ARGUMENT...]");
    options.group("The try");
    options.add("duration", duration_, "time from the first step until the job gets SIGTERM", "TIME");
    options.add("first-step", first_step_, "timeout of the job's first steps", "TIME");
    options.add("out", out_, "keep steps and logs in this directory (default: deleted)", "DIR");
    options.add("schedule", request_.schedule, "schedule of the noise, see crosstalk run", "SCHEDULE");
    options.add("slot", request_.slot, "length of a slot, see crosstalk run", "TIME");
    options.add("cpus", job_cpus_, "CPUs of the job, see crosstalk run", "LIST");
    options.add("noise-cpus", noise_cpus_, "CPUs of the noise", "LIST");
    options.add("budget", request_.budget, "acceptable slowdown of a step", "PERCENT");
    add_step_options(options, request_);
    options.example("crosstalk try -- mpirun -n 8 ./program");
    options.example("crosstalk try --duration 60s -- crosstalk-python train.py");
    options.epilogue(
        "Reports the source of steps, their number, length and phases, the run length needed for a report and for the "
        "budget, and problems. Exit codes: 0 fine, 1 the job failed or shows no steps, 2 wrong usage.");
    options.see_also("crosstalk-run(1), trace-steps(1)");
}

int TryCommand::run()
{
    namespace fs = std::filesystem;
    if (request_.command.empty())
        base::fail_usage("no job given; use: crosstalk try -- COMMAND (crosstalk try --help)");
    request_.duration = read_time("--duration", duration_);
    request_.first_steps_within = read_time("--first-step", first_step_);
    check_budget(request_.budget);
    if (!job_cpus_.empty()) request_.job_cpus = base::parse_cpus(job_cpus_);
    if (!noise_cpus_.empty()) request_.noise_cpus = base::parse_cpus(noise_cpus_);
    request_.folder = fs::current_path();
    request_.input = standard_input();
    base::stop_on_signals();
    std::optional<base::TemporaryDirectory> scratch;
    if (out_.empty()) scratch.emplace("crosstalk-try");
    request_.out = request_.whole = fs::absolute(out_.empty() ? scratch->path() : fs::path{out_});
    try {
        const int code = try_job(request_);
        if (scratch && code != base::exit_fine) scratch->keep();  // error messages refer to its logs
        return code;
    } catch (const base::Interrupted&) {
        throw;
    } catch (...) {
        if (scratch) scratch->keep();
        throw;
    }
}

}  // namespace crosstalk
