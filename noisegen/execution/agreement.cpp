#include "noisegen/execution/agreement.hpp"

#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "base/system/stop.hpp"
#include "noisegen/schedule/job_plan.hpp"
#include "noisegen/schedule/slot_length.hpp"

namespace noisegen {

namespace fs = std::filesystem;

namespace {

constexpr base::Nanoseconds slot_without_training{1'000'000'000};
constexpr base::Nanoseconds training_patience{20'000'000'000};

base::Nanoseconds measured_slot(const fs::path& control_run)
{
    if (control_run.empty()) {
        base::warn("slot=auto: no training is named (--out or --control); taking 1s");
        return slot_without_training;
    }
    base::warn("slot=auto: measures the training's steps first, and waits up to ",
               training_patience.count() / 1'000'000'000, " s for them");
    const auto step = measure_step(control_run, base::host_name(), training_patience);
    if (!step) {
        if (!base::stop_requested())
            base::warn("slot=auto: no training moves its step counter in " + (control_run / "control").string() +
                       "; taking 1s");
        return slot_without_training;
    }
    const base::Nanoseconds slot = slot_of(*step);
    base::warn("slot=auto: a step takes " + base::format(base::Nanoseconds{step->count() / 1000 * 1000}) + ", a slot " +
               base::format(slot));
    return slot;
}

// Effects are estimated block by block: a run of one block or less says nothing.
void warn_of_few_blocks(const Request& request)
{
    const base::Nanoseconds block = request.schedule.block_length();
    if (2 * block <= request.duration) return;
    base::warn("a block takes " + base::format(block) + ", the run " + base::format(request.duration) +
               ": an analysis needs two blocks at least; run longer, or with shorter slots");
}

JobPlan plan_with_others(const fs::path& noise, const Request& request, const base::JobRank& job)
{
    constexpr base::Nanoseconds lead_alone{2'000'000};
    constexpr base::Nanoseconds lead_for_others{1'000'000'000};
    constexpr base::Nanoseconds told_wait{3'000'000'000};
    JobPlan proposal{.schedule = request.schedule.text,
                     .seed = request.seed,
                     .duration = request.duration,
                     .slot = request.schedule.slot_length(),
                     .start_realtime_ns = 0,
                     .measured = request.schedule.needs_slot()};
    if (proposal.measured) proposal.slot = measured_slot(request.control_run);
    const base::Nanoseconds lead = job.size > 1 ? lead_for_others : lead_alone;
    const std::int64_t now = base::now_ns() + base::realtime_offset_ns();
    proposal.start_realtime_ns = now + lead.count();
    JobPlan plan = noise.empty() ? proposal : agree(noise, proposal);
    if (const std::int64_t wait = plan.start_realtime_ns - now; wait > told_wait.count())
        base::warn("waits ", wait / 1'000'000'000, " s for the start that stands in ",
                   (noise / base::file::noise_plan).string());
    return plan;
}

}  // namespace

Agreement agree_with_others(Plan& plan, const fs::path& noise, const base::JobRank& job)
{
    const JobPlan agreed = plan_with_others(noise, plan.request, job);
    if (plan.request.schedule.needs_slot()) {
        set_slot(plan, agreed.slot);
        check_designed(plan);
    }
    if (job.rank == 0) warn_of_few_blocks(plan.request);
    return {.slot = agreed.slot, .start_ns = agreed.start_realtime_ns - base::realtime_offset_ns()};
}

}  // namespace noisegen
