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

TryCommand::TryCommand() : Command{"crosstalk try", "a job without noise for some seconds: what a run of it would be"}
{
    options.add_positional("COMMAND", request_.command, "the job and its arguments, behind --", 0);
    options.synopsis("[options] -- COMMAND [ARGUMENT...]");
    options.group("The try");
    options.add("duration", duration_, "how long, from the first steps on; then the job is asked to end (SIGTERM)",
                "TIME");
    options.add("first-step", first_step_, "how long the job may take until its first steps", "TIME");
    options.add("out", out_, "keeps steps and logs there; without it they are gone in the end", "DIR");
    options.add("schedule", request_.schedule, "what noise would do, see crosstalk run", "SCHEDULE");
    options.add("slot", request_.slot, "length of a slot of that, see crosstalk run", "TIME");
    options.add("cpus", job_cpus_, "CPUs of the job, see crosstalk run", "LIST");
    options.add("noise-cpus", noise_cpus_, "CPUs that the noise would have", "LIST");
    options.add("budget", request_.budget, "slowdown of a step that is still affordable", "PERCENT");
    add_step_options(options, request_);
    options.example("crosstalk try -- mpirun -n 8 ./program");
    options.example("crosstalk try --duration 60s -- crosstalk-python train.py");
    options.epilogue(
        "Says where steps come from, how many there are and how long, their phases, how long a run has to be for a "
        "report and for the budget, and what is in the way. Exit codes: 0 fine, 1 the job failed or shows no steps, 2 "
        "wrong usage.");
    options.see_also("crosstalk-run(1), trace-steps(1)");
}

int TryCommand::run()
{
    namespace fs = std::filesystem;
    if (request_.command.empty()) base::fail_usage("which job? crosstalk try -- COMMAND (crosstalk try --help)");
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
        if (scratch && code != base::exit_fine) scratch->keep();  // messages name its logs
        return code;
    } catch (const base::Interrupted&) {
        throw;
    } catch (...) {
        if (scratch) scratch->keep();
        throw;
    }
}

}  // namespace crosstalk
