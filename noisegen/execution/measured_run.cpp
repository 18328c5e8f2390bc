// SPDX-License-Identifier: Apache-2.0
#include "noisegen/execution/measured_run.hpp"

#include "base/system/clock.hpp"
#include "base/system/stop.hpp"
#include "noisegen/resources/gpu_budget.hpp"
#include "noisegen/resources/placement.hpp"

namespace noisegen {

namespace {

constexpr std::int64_t lead_ns = 10'000'000;
constexpr std::int64_t look_again_ns = 50'000'000;

// Waits until the table is over (returns true) or the program is asked to stop (false).
bool wait_for(const Team& team, const MeasuredRun& measured, std::int64_t start_ns)
{
    const std::int64_t length_ns = measured.table.back().end.count();
    while (!team.done()) {
        if (base::stop_requested()) return false;
        if (team.failed()) return true;  // stop() will throw the error
        const std::int64_t now = base::now_ns();
        measured.progress(static_cast<double>(now - start_ns) / static_cast<double>(length_ns));
        team.wait_for_news(now + look_again_ns, base::stop_descriptor());
    }
    return !base::stop_requested();
}

}  // namespace

bool run(const MeasuredRun& measured)
{
    const std::vector<int> cpus{measured.cpus.begin(), measured.cpus.end()};
    const std::vector<std::vector<int>> runs = divide(measured.schedule, base::physical_cores(measured.cpus));
    const std::vector<Demand> demanded = demands(measured.schedule, runs);
    check_demands(demanded, measured.budgets);
    check_gpus(demanded, {});
    allow_descriptors(demanded);
    Team team{measured.schedule, {.cpus = cpus, .runs = runs}};

    std::mutex mutex;
    const std::int64_t start_ns = base::now_ns() + lead_ns;
    measured.on_start(start_ns);
    team.start(measured.table, start_ns,
               {.on_slot =
                    [&](std::size_t cpu, const SlotDone& done) {
                        const std::lock_guard lock{mutex};
                        measured.on_slot(cpu, done);
                    },
                .on_sample =
                    [&](std::size_t cpu, const SlotDone& done, const Sample& sample) {
                        if (!measured.on_sample) return;
                        const std::lock_guard lock{mutex};
                        measured.on_sample(cpu, done, sample);
                    }});
    const bool complete = wait_for(team, measured, start_ns);
    team.stop();
    measured.on_notes(team.notes());
    return complete;
}

}  // namespace noisegen
