// SPDX-License-Identifier: Apache-2.0
#include "noisegen/measure/worst_shape_search.hpp"

#include "base/contract/run_record.hpp"
#include "base/error.hpp"
#include "noisegen/measure/probe.hpp"
#include "noisegen/stressors/memory/stream_kernels.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

namespace noisegen {

std::optional<std::size_t> worst_level(const WorkByBlock& work, std::size_t levels)
{
    std::optional<std::size_t> worst;
    double most = 0.0;
    for (std::size_t level = 0; level < levels; ++level) {
        const Estimate found = slowdown(work, level);
        if (std::isnan(found.low) || found.value <= most) continue;
        most = found.value;
        worst = level;
    }
    return worst;
}

std::optional<WorstShape> find_worst_shape(const ShapeSearch& search)
{
    const int victim = search.victim;
    const base::CpuSet& cpus = search.cpus;
    if (cpus.contains(victim)) base::fail_usage("CPU ", victim, " is the victim's; give other --cpus");
    Probe probe;
    probe.victim = victim;
    probe.cpus = cpus;
    probe.blocks = search.blocks;
    probe.seed = search.seed;
    probe.budgets = search.budgets;
    probe.array = search.array;
    probe.stressors = {search.stressor.empty() ? all_stream_shapes(cpus) : search.stressor};
    const Victim::Setup setup = Victim::setup(victim, probe.array);
    Schedule schedule = probe_schedule(probe, probe.stressors);
    check_probe(probe, schedule, setup);
    const ProbeRun run = run_probe(probe, schedule, setup);
    if (run.blocks < static_cast<std::size_t>(search.blocks)) return {};
    const WorkByBlock work =
        work_of_kind(victim_done(schedule, run.table, run.start_ns, run.slices), Slice::Kind::read);
    const auto level = worst_level(work, schedule.levels.size());
    if (!level) base::fail("too few measurements of the victim on CPU ", victim, " to find the worst shape");
    const Estimate found = slowdown(work, *level);
    const Configured& stressor = schedule.stressors[schedule.levels[*level].stressor];
    return WorstShape{.shape = stressor.settings.text("shape"),
                      .victim = victim,
                      .noise_cpus = base::format_cpus(cpus),
                      .slowdown = found.value,
                      .low = found.low,
                      .high = found.high,
                      .measured = base::run_record("noisegen calibrate").at("started")};
}

}  // namespace noisegen
