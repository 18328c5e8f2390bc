// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/run/try_run.hpp"

#include "base/contract/run_directory.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/figures.hpp"
#include "base/system/clock.hpp"
#include "base/system/stop.hpp"
#include "base/words.hpp"
#include "crosstalk/programs/guardian.hpp"
#include "crosstalk/programs/programs.hpp"
#include "crosstalk/run/first_steps.hpp"
#include "crosstalk/run/job.hpp"
#include "crosstalk/run/leftover.hpp"
#include "crosstalk/run/noise_command.hpp"
#include "crosstalk/run/noise_plan.hpp"
#include "crosstalk/run/place/placement.hpp"
#include "crosstalk/run/request/run_directory.hpp"
#include "crosstalk/run/trial_steps.hpp"
#include "crosstalk/run/victims.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <iostream>

namespace crosstalk {

namespace {

namespace fs = std::filesystem;

// Runs the job for some time, asks it to end, and then kills it. Returns true if it ended before it was asked.
bool watch(Job& job, base::Nanoseconds length)
{
    constexpr std::int64_t patience_ns = 20'000'000'000;
    const std::int64_t end_ns = base::now_ns() + length.count();
    bool asked = false;
    while (job.running()) {
        const std::int64_t now_ns = base::now_ns();
        if (!asked && now_ns >= end_ns) {
            asked = true;
            for (const pid_t pid : victims_of(job.pid())) ::kill(pid, SIGTERM);
        }
        if (now_ns >= end_ns + patience_ns) {
            for (const pid_t pid : victims_of(job.pid())) ::kill(pid, SIGKILL);
            break;
        }
        base::end_if_stopped();
        base::sleep_until_ns(now_ns + look_again_ns);
    }
    return !asked;
}

std::string value_of(const std::vector<std::string>& options, const std::string& name)
{
    const auto found = std::find(options.begin(), options.end(), name);
    return found == options.end() || found + 1 == options.end() ? "" : *(found + 1);
}

// The table of the steps, and a description of what a step is.
std::pair<fs::path, std::string> table_of(const Request& request, const std::vector<std::string>& reading)
{
    const fs::path train = request.out / base::part::train;
    const std::string is = value_of(reading, "--step-is");
    if (const std::string table = value_of(reading, "--steps"); !table.empty())
        return {table, is.empty() ? "a step is a row of its table" : is};
    if (fs::exists(train / base::file::steps)) return {train / base::file::steps, is.empty() ? "the job's own" : is};
    const fs::path out = request.out / base::part::log / "steps";
    std::vector<std::string> words{program("trace-steps"), train / base::file::anchor_in_part, "--out", out};
    for (const char* option : {"--step-region", "--step-from", "--step-every"})
        if (const std::string value = value_of(reading, option); !value.empty())
            words.insert(words.end(), {option, value});
    const Answer answer = answer_of(words, Errors::in_the_text);
    if (answer.code != base::exit_fine) {
        const std::string anchor = std::string{base::file::anchor} + ": ";
        const std::size_t why = answer.text.find(anchor);  // the path is already known
        base::fail(why == std::string::npos ? last_message(answer.text)
                                            : std::string{base::trim(answer.text.substr(why + anchor.size()))});
    }
    const std::size_t begin = answer.text.find('\'');
    const std::size_t end = answer.text.find('\'', begin + 1);
    const std::string name = begin == std::string::npos ? "" : answer.text.substr(begin + 1, end - begin - 1);
    return {out / base::file::steps,
            (name.find(" to ") == std::string::npos ? "a step is a visit of " : "a step lasts from ") + name};
}

void print_row(const std::string& name, const std::string& text)
{
    constexpr std::size_t width = 14;
    std::cout << name << std::string(width - std::min(width, name.size()), ' ') << text << "\n";
}

std::string phases_of(const TriedSteps& steps)
{
    constexpr double least = 0.0005;
    std::vector<std::string> parts;
    for (const auto& [name, share] : steps.phases)
        if (share >= least) parts.push_back(base::join(name, " ", base::fixed(100.0 * share, 1), " %"));
    return parts.empty() ? "none are known" : base::join_words(parts, ", ");
}

std::string rounded_up(base::Nanoseconds length)
{
    constexpr std::int64_t s = 1'000'000'000;
    const std::int64_t seconds = (length.count() + s - 1) / s;
    if (seconds > std::int64_t{48} * 3600) return base::join((seconds + 3599) / 3600, "h");
    return seconds < 300 ? base::join(seconds, "s") : base::join((seconds + 59) / 60, "min");
}

std::vector<std::string> in_the_way(const Request& request, const TriedSteps& steps, base::Nanoseconds slot,
                                    base::Nanoseconds two_blocks, bool ended, bool counts_calls, bool shared)
{
    constexpr double alike = 1.2;
    std::vector<std::string> all;
    if (ended) all.emplace_back("the job ended early: it must run as long as the noise");
    if (two_blocks > Request{}.duration && request.schedule == "auto")
        all.push_back(base::join("two blocks take ", rounded_up(two_blocks),
                                 ", more than the default --duration: give ", "a longer one, or a shorter --slot"));
    if (const double in_slot = static_cast<double>(slot.count()) / 1e6 / mean_ms(steps); in_slot < 5.0)
        all.push_back(base::join("a slot of ", base::format(slot), " holds ", base::fixed(in_slot, 1),
                                 " steps: --slot ", base::format(slot_for(steps)), " holds ten"));
    const double before = median_ms(steps, 0.0, 0.5);
    const double after = median_ms(steps, 0.5, 1.0);
    if (std::max(before, after) > alike * std::min(before, after))
        all.push_back(base::join("steps drift without noise: ", base::fixed(before, 1), " ms in the first half, ",
                                 base::fixed(after, 1), " ms in the second"));
    if (const std::size_t turns = steps_by_turns(steps); turns > 1 && counts_calls)
        all.push_back(base::join("steps repeat in groups of ", turns, ": this many calls or lines may be one step: ",
                                 "--step-every ", turns * static_cast<std::size_t>(request.step_every)));
    if (shared) all.emplace_back("no idle cores: noise would share the job's");
    return all;
}

int report(const Request& request, const Split& cores, const Job& job, const std::vector<std::string>& reading,
           std::int64_t started_ns, bool ended)
{
    const auto [table, step_is] = table_of(request, reading);
    const TriedSteps steps = read_tried_steps(table);
    if (steps.length_ns.size() < 2) base::fail("the job made fewer than two steps: see ", job.log().string());
    const std::string schedule = schedule_of(request, job.cooperates(), cores.noise);
    Request longest = request;
    longest.duration = std::chrono::hours{1};  // so that the schedule can be shown
    const std::string slots = slots_of(longest, schedule, cores);
    const bool is_measured = schedule.find("slot=auto") != std::string::npos;
    const base::Nanoseconds needed = two_blocks(schedule, slots, slot_for(steps));
    const BlockOfSlots block = first_block(slots);
    const base::Nanoseconds slot =
        is_measured || block.slots == 0 ? slot_for(steps) : needed / (2 * static_cast<std::int64_t>(block.slots));
    const double span_s =
        static_cast<double>(steps.begin_ns.back() + steps.length_ns.back() - steps.begin_ns.front()) / 1e9;

    print_row("steps", base::printable(step_is));
    print_row("", base::join(steps.length_ns.size(), " on ",
                             steps.ranks == 1 ? "1 rank" : base::join("each of ", steps.ranks, " ranks"), " in ",
                             base::fixed(span_s, 1), " s; the first began after ",
                             base::fixed(static_cast<double>(steps.begin_ns.front() - started_ns) / 1e9, 1), " s"));
    print_row("length", base::join("mean ", base::fixed(mean_ms(steps), 2), " ms, median ",
                                   base::fixed(median_ms(steps), 2), " ms"));
    print_row("phases", phases_of(steps));
    print_row("schedule", schedule);
    if (needed.count() > 0) {
        print_row("a report", base::join("needs ", rounded_up(needed), " of noise: two blocks of ", block.slots,
                                         " slots of ", base::format(slot)));
        const double budget =
            base::parse<base::Percent>(request.budget.ends_with('%') ? request.budget : request.budget + "%").value;
        const base::Nanoseconds length = length_for_budget(steps, slot, block.quiet, block.slots, budget);
        if (length > std::chrono::hours{24})
            print_row("a verdict", base::join("at ", budget, " % would need ", rounded_up(length),
                                              ": steps vary too much; five times the budget needs 1/25 of that time"));
        else if (length.count() > 0)
            print_row("a verdict",
                      base::join("at ", budget, " % needs about ", rounded_up(length), ": crosstalk run --duration ",
                                 rounded_up(length), " -- ..; more for noise that makes steps vary"));
    }
    std::vector<std::string> ways =
        in_the_way(request, steps, slot, needed, ended, !job.cooperates() && request.steps.empty(), cores.shared);
    if (const std::string words = left_out_by_recording(request); !words.empty()) ways.push_back(words);
    for (const std::string& way : ways) print_row("problems", way);
    if (ways.empty()) print_row("problems", "none found");
    base::flush_stdout();
    return base::exit_fine;
}

}  // namespace

int try_job(const Request& request)
{
    const Split cores = placement_for(request, *launcher_for(request)).cores;
    Job job{request, cores.job};
    const base::Descriptor lock = claim_directory(request);
    const Guardian guardian{request.out};
    const EndsWhatWasStarted guard;
    try {
        prepare_for_mpi();
        const std::int64_t started_ns = base::now_ns();
        job.start();
        wait_for_first_steps(job, request);
        const bool ended = watch(job, request.duration);
        end_started_processes();
        if (ended && job.exit_code() != 0) throw ended_by_itself(job, "during the trial");
        return report(request, cores, job, job.finish(), started_ns, ended);
    } catch (const Ended& ended) {
        base::warn(ended.reason);
        return ended.code;
    }
}

}  // namespace crosstalk
