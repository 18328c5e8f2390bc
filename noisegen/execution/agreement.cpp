// SPDX-License-Identifier: Apache-2.0
#include "noisegen/execution/agreement.hpp"

#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "base/system/stop.hpp"
#include "noisegen/schedule/job_plan.hpp"
#include "noisegen/schedule/slot_length.hpp"

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace noisegen {

namespace fs = std::filesystem;

namespace {

constexpr base::Nanoseconds slot_without_training{1'000'000'000};
constexpr base::Nanoseconds training_patience{20'000'000'000};

// Returns none, with a warning, if no training is found.
std::optional<MeasuredStep> measured_step(const fs::path& control_run)
{
    if (control_run.empty()) {
        base::warn("slot=auto: no training given (--out or --control); using 1s");
        return {};
    }
    base::warn("slot=auto: measuring the training's steps; waiting up to ", training_patience.count() / 1'000'000'000,
               " s for them");
    const auto step = measure_step(control_run, base::host_name(), training_patience);
    if (step)
        base::warn("slot=auto: a step takes " + base::format(base::Nanoseconds{step->length.count() / 1000 * 1000}) +
                   ", a slot " + base::format(slot_of(*step)));
    else if (!base::stop_requested())
        base::warn("slot=auto: no step was counted in " + (control_run / "control").string() + "; using 1s");
    return step;
}

// Effects are estimated block by block, so a run of one block or less shows nothing.
void warn_of_few_blocks(const Request& request)
{
    const base::Nanoseconds block = request.schedule.block_length();
    if (2 * block <= request.duration) return;
    base::warn("a block takes " + base::format(block) + ", the run " + base::format(request.duration) +
               ": an analysis needs two blocks at least; run longer, or with shorter slots");
}

constexpr base::Nanoseconds lead_alone{2'000'000};
constexpr base::Nanoseconds lead_for_others{1'000'000'000};

// A plan that starts soon, which this process proposes to the others.
JobPlan proposal(const Request& request, const base::JobRank& job, base::Nanoseconds slot)
{
    const base::Nanoseconds lead = job.size > 1 ? lead_for_others : lead_alone;
    return {.schedule = request.schedule.text,
            .seed = request.seed,
            .duration = request.duration,
            .slot = slot,
            .start_realtime_ns = base::now_ns() + base::realtime_offset_ns() + lead.count(),
            .measured = request.schedule.needs_slot()};
}

// Runs the table and returns the steps observed in that time. None if the program is asked to stop.
std::optional<std::vector<SeenSteps>> try_out(Team& team, const std::vector<Slot>& table, const fs::path& control_run,
                                              std::int64_t start_ns)
{
    constexpr std::int64_t look_again_ns = 50'000'000;
    team.start(table, start_ns, {});
    std::vector<SeenSteps> steps =
        watch_steps(control_run, base::host_name(), start_ns, start_ns + table.back().end.count());
    while (!team.done() && !team.failed() && !base::stop_requested())
        team.wait_for_news(base::now_ns() + look_again_ns, base::stop_descriptor());
    if (team.failed()) team.stop();  // throws the thread's error
    if (base::stop_requested()) return {};
    return steps;
}

std::string rounded(double value, double parts)
{
    return base::format(std::round(value * parts) / parts);
}

void tell(const PilotRound& round, bool doubles)
{
    for (const LeftBehind& noise : round.left)
        if (noise.lasts())
            base::warn("slot=auto: ", noise.noise, " outlasts its slot: steps of the slot after it take ",
                       rounded(noise.percent, 10.0), "% longer (p = ", rounded(noise.p, 1000.0), ")",
                       doubles ? "; slots are doubled" : "; longer slots do not fit the run");
}

// The processes of a job run each round together, and all continue with the result of the first one.
std::vector<PilotRound> pilot(const Plan& plan, Team& team, base::Nanoseconds& slot, const fs::path& noise,
                              const base::JobRank& job)
{
    const Request& request = plan.request;
    const base::Nanoseconds wanted = request.planned.count() > 0 ? request.planned : request.duration;
    std::vector<PilotRound> rounds;
    base::Nanoseconds took{};
    while (has_time_for_pilot(request.schedule, slot, wanted, took)) {
        JobPlan next = proposal(request, job, slot);
        if (job.size > 1) next = agree(noise / base::join("pilot.", rounds.size(), ".json"), next);
        slot = next.slot;
        if (!rounds.empty() && rounds.back().slot == slot) break;  // another process found that no noise lasts
        const std::vector<Slot> table = pilot_table(request.schedule, request.seed, slot);
        if (job.rank == 0)
            base::warn("slot=auto: testing for ", base::format(table.back().end), " whether noise outlasts a slot of ",
                       base::format(slot));
        const auto steps =
            try_out(team, table, request.control_run, next.start_realtime_ns - base::realtime_offset_ns());
        if (!steps) break;
        took += table.back().end;
        rounds.push_back({slot, left_behind(request.schedule, table, *steps)});
        const bool doubles = rounds.back().lasts() && may_double(request.schedule, slot, wanted);
        if (job.rank == 0) tell(rounds.back(), doubles);
        if (doubles) slot *= 2;
        if (!doubles && job.size == 1) break;
    }
    return rounds;
}

JobPlan plan_with_others(const Plan& plan, Team& team, const fs::path& noise, const base::JobRank& job,
                         std::vector<PilotRound>& rounds)
{
    constexpr base::Nanoseconds told_wait{3'000'000'000};
    const Request& request = plan.request;
    base::Nanoseconds slot = request.schedule.slot_length();
    const fs::path agreed = noise.empty() ? fs::path{} : noise / base::file::noise_plan;
    if (request.schedule.needs_slot()) {
        const auto step = measured_step(request.control_run);
        slot = step ? slot_of(*step) : slot_without_training;
        if (step && !fs::exists(agreed)) rounds = pilot(plan, team, slot, noise, job);
    }
    const JobPlan mine = proposal(request, job, slot);
    JobPlan all = agreed.empty() ? mine : agree(agreed, mine);
    const std::int64_t now = base::now_ns() + base::realtime_offset_ns();
    if (const std::int64_t wait = all.start_realtime_ns - now; wait > told_wait.count())
        base::warn("waiting ", wait / 1'000'000'000, " s for the start given in ", agreed.string());
    return all;
}

}  // namespace

Agreement agree_with_others(Plan& plan, Team& team, const fs::path& noise, const base::JobRank& job)
{
    std::vector<PilotRound> pilot;
    const JobPlan agreed = plan_with_others(plan, team, noise, job, pilot);
    if (plan.request.schedule.needs_slot()) {
        set_slot(plan, agreed.slot);
        check_designed(plan);
    }
    if (job.rank == 0) warn_of_few_blocks(plan.request);
    return {.slot = agreed.slot,
            .start_ns = agreed.start_realtime_ns - base::realtime_offset_ns(),
            .pilot = std::move(pilot)};
}

}  // namespace noisegen
