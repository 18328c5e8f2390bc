// SPDX-License-Identifier: Apache-2.0
#include "base/cli/option_checks.hpp"
#include "base/error.hpp"
#include "base/system/cpus.hpp"
#include "base/system/environment.hpp"
#include "base/system/stop.hpp"
#include "base/words.hpp"
#include "crosstalk/cli/commands.hpp"
#include "crosstalk/cli/run_options.hpp"
#include "crosstalk/cores/cores_run.hpp"
#include "crosstalk/run/place/core_levels.hpp"
#include "crosstalk/run/request/run_directory.hpp"
#include "crosstalk/run/several_runs.hpp"
#include "crosstalk/run/sources/step_source.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include <unistd.h>

namespace crosstalk {

namespace {

namespace fs = std::filesystem;

// Parses "1|2|4" or "1,2,4"; returns each number once, in ascending order.
std::vector<int> read_numbers(const char* option, const std::string& text)
{
    constexpr int most = 8192;
    std::set<int> numbers;
    for (const std::string& word : base::split(text, text.find('|') == std::string::npos ? ',' : '|')) {
        const auto number = base::parsed<int>(option, word);
        base::check_within(1, most, number, option);
        numbers.insert(number);
    }
    return {numbers.begin(), numbers.end()};
}

// The neighbour's name; a program gets its absolute path, since noisegen runs in another directory.
std::string neighbour_of(const std::string& text)
{
    std::error_code unknown;
    if (text.find('/') == std::string::npos && !fs::is_regular_file(text, unknown)) return text;
    const std::string path = fs::absolute(text).lexically_normal().string();
    if (::access(path.c_str(), X_OK) != 0) base::fail_usage("--neighbour: ", text, " is not an executable program");
    if (path.find_first_of(",|;[]()") != std::string::npos)
        base::fail_usage("--neighbour: ", path, " has one of ,|;[]() in its path, which a schedule cannot hold");
    return path;
}

}  // namespace

CoresCommand::CoresCommand()
    : Command{"crosstalk cores", "measures how many cores a job must keep, and what a neighbour gets of the others"}
{
    options.add_positional("COMMAND", request_.command, "the job and its arguments, after --", 0);
    options.synopsis("[options] -- COMMAND [ARGUMENT...]");
    options.group("The run");
    options.add("out", out_, "directory of the run (default: crosstalk-NUMBER, the first free one)", "DIR");
    options.add("neighbour", neighbour_,
                "what runs on the cores that a slot frees: a stressor with its default options, a program, or none",
                "STRESSOR|FILE");
    options.add("levels", levels_,
                "numbers of physical cores that each rank keeps, in slots of random order; default: 1, 2, 3, 4, 6, 8, "
                "12, .. up to all of a rank",
                "LIST");
    options.add("threads", threads_, "also restart the job with each of these OMP_NUM_THREADS: a run for each", "LIST");
    options.add("duration", duration_, "how long noise runs; a job that takes longer gets SIGTERM", "TIME");
    options.add("first-step", first_step_, "timeout of the job's first steps", "TIME");
    request_.slot = "1s";  // not ten steps, which take longer with fewer cores
    options.add("slot", request_.slot, "length of a slot: ten steps or more with the fewest cores", "TIME");
    options.add("seed", request_.seed, "seed of the random order", "NUMBER");
    options.add("cpus", cpus_, "CPUs of the job in quiet slots; the neighbour gets those that are freed (default: all)",
                "LIST");
    options.add("control-delay", request_.control_delay, "known delay as positive control, see crosstalk run", "DELAY");
    options.add_switch("dry-run", dry_run_, "print the commands without running them, and exit");
    add_step_options(options, request_);
    options.group("The result");
    options.add("budget", request_.budget, "acceptable slowdown of a step", "PERCENT");
    options.example("crosstalk cores -- mpirun -n 2 --bind-to none ./program");
    options.example("crosstalk cores --neighbour ./simulation --levels 1,2,4,6,8 -- crosstalk-python train.py");
    options.example("crosstalk cores --threads '1|2|4' --budget 2% -- ddl-train");
    options.epilogue(
        "The answer is the smallest measured number such that it and all larger ones are shown to cost less than the "
        "budget. A run that cannot show this prints the reason. Exit codes: those of crosstalk run.");
    options.see_also("crosstalk-run(1), noisegen(1), interference(1)");
}

int CoresCommand::run()
{
    if (request_.command.empty())
        base::fail_usage("no job given; use: crosstalk cores -- COMMAND (crosstalk cores --help)");
    request_.duration = read_time("--duration", duration_);
    request_.first_steps_within = read_time("--first-step", first_step_);
    check_budget(request_.budget);
    std::vector<std::size_t> levels;
    if (options.given("levels"))
        for (const int level : read_numbers("--levels", levels_)) levels.push_back(static_cast<std::size_t>(level));
    if (levels.size() == 1) base::fail_usage("--levels: give two numbers or more");
    const std::vector<int> threads =
        options.given("threads") ? read_numbers("--threads", threads_) : std::vector<int>{};
    if (!threads.empty() && std::count(request_.command.begin(), request_.command.end(), "--threads") > 0 &&
        std::any_of(request_.command.begin(), request_.command.end(), is_ddl_train))
        base::fail_usage("give --threads to crosstalk cores, not to ddl-train");
    request_.job_cpus = cpus_.empty() ? base::allowed_cpus() : base::parse_cpus(cpus_);
    request_.noise_cpus = request_.job_cpus;
    if (base::physical_cores(request_.job_cpus).size() < 2)
        base::fail_usage("the job has one core (CPUs ", base::format_cpus(request_.job_cpus),
                         "): there is none to take from it");
    request_.noises = noise_of_cores(levels, neighbour_of(neighbour_));
    request_.folder = fs::current_path();
    request_.input = standard_input();
    request_.python = base::environment("PYTHON").value_or("");
    std::optional<FreeDirectory> free;
    if (out_.empty() && !dry_run_) free.emplace();
    request_.out = request_.whole = out_.empty() ? (free ? free->path() : FreeDirectory::seen()) : fs::absolute(out_);
    request_.again = command_to_extend(request_, request_.out);
    base::stop_on_signals();
    return dry_run_ ? show_cores_run(request_, threads) : cores_run(request_, threads);
}

}  // namespace crosstalk
