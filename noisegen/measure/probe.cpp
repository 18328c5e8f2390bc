#include "noisegen/measure/probe.hpp"

#include "base/cli/progress.hpp"
#include "base/contract/run_record.hpp"
#include "base/error.hpp"
#include "base/figures.hpp"
#include "base/files.hpp"
#include "base/words.hpp"
#include "noisegen/execution/measured_run.hpp"
#include "noisegen/measure/probe_files.hpp"
#include "noisegen/resources/node_limits.hpp"
#include "noisegen/resources/placement.hpp"
#include "noisegen/schedule/parser.hpp"
#include "noisegen/stressors/footprint.hpp"
#include "noisegen/stressors/memory/stream_kernels.hpp"
#include "noisegen/stressors/registry.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <optional>

namespace noisegen {

namespace {

Schedule schedule_of(const Probe& probe)
{
    constexpr base::Nanoseconds shortest{50'000'000};
    constexpr base::Nanoseconds longest = std::chrono::hours{1};
    if (probe.slot < shortest || probe.slot > longest)
        base::fail_usage("--slot: 50ms to 1h, not ", base::format(probe.slot),
                         "; some of the victim's slices must lie wholly in it");
    Schedule schedule =
        rotation_of(probe.stressors.empty() ? default_probe_stressors(probe.cpus) : probe.stressors, probe.slot);
    if (probe.blocks < 2 || probe.blocks > 100'000)
        base::fail_usage("--blocks: 2 to 100000, not ", probe.blocks, "; intervals need two at least");
    constexpr base::Nanoseconds year = std::chrono::hours{24 * 366};
    if (schedule.block_length() > year / probe.blocks)
        base::fail_usage("--blocks: ", probe.blocks, " blocks of ", base::format(schedule.block_length()),
                         " are more than a year");
    return schedule;
}

// The noise's own traffic, all CPUs together, added up as slots end.
struct Traffic {
    std::vector<LevelTotal> levels;

    void add(const SlotDone& done, std::size_t cpus)
    {
        if (!done.level) return;
        noisegen::add(levels[*done.level], done.sample);
        levels[*done.level].cpus = cpus;
    }

    double waited() const
    {
        double on_ns = 0.0;
        double waited_ns = 0.0;
        for (const LevelTotal& total : levels) {
            on_ns += static_cast<double>(total.busy_ns);
            waited_ns += static_cast<double>(total.waited_ns);
        }
        return on_ns == 0.0 ? 0.0 : waited_ns / on_ns;
    }
};

struct Measured {
    std::vector<Slot> table;
    std::int64_t start_ns = 0;
    std::vector<Slice> slices;
    Traffic traffic;
    bool complete = false;
};

Measured measure(const Probe& probe, const Schedule& schedule, const Victim::Setup& setup)
{
    Measured measured;
    measured.table = slot_table(schedule, probe.seed, schedule.block_length() * probe.blocks);
    measured.traffic.levels.resize(schedule.levels.size());
    Victim victim{setup};
    base::Progress progress{"noisegen probe"};
    measured.complete = run(
        {.schedule = schedule,
         .cpus = probe.cpus,
         .budgets = probe.budgets,
         .table = measured.table,
         .on_slot = [&](std::size_t, const SlotDone& done) { measured.traffic.add(done, probe.cpus.size()); },
         .on_start =
             [&](std::int64_t start_ns) {
                 measured.start_ns = start_ns;
                 victim.start();
             },
         .progress =
             [&](double share) {
                 const auto block = static_cast<std::int64_t>(std::max(0.0, share) * static_cast<double>(probe.blocks));
                 progress.show(share, base::join("block ", std::min(block + 1, probe.blocks), " of ", probe.blocks));
             }});
    measured.slices = victim.stop();
    return measured;
}

// Without the block in which the program was asked to stop.
std::size_t keep_whole_blocks(Measured& measured)
{
    if (measured.slices.empty()) return 0;
    const std::int64_t last_ns = measured.slices.back().end_ns;
    std::uint64_t blocks = 0;
    for (const Slot& slot : measured.table)
        if (measured.start_ns + slot.end.count() <= last_ns) blocks = slot.block;
    const bool all = measured.complete;
    std::erase_if(measured.table, [&](const Slot& slot) { return !all && slot.block >= blocks; });
    return static_cast<std::size_t>(all ? measured.table.back().block + 1 : blocks);
}

std::string figure(double value, int digits)
{
    if (std::isnan(value)) return "-";
    std::ostringstream text;
    text << std::fixed << std::setprecision(digits) << value;
    return text.str();
}

std::string text(const Estimate& estimate)
{
    if (std::isnan(estimate.value)) return "-";
    return figure(estimate.value, 2) + " [" + figure(estimate.low, 2) + ", " + figure(estimate.high, 2) + "]";
}

std::string latency_text(double ns)
{
    return std::isnan(ns) ? "-" : figure(ns, 1) + " ns";
}

std::string traffic_text(const Damage& damage)
{
    if (damage.own_bytes_per_s > 0.0) return speed_text(damage.own_bytes_per_s);
    if (damage.own_operations_per_s > 0.0) return operations_text(damage.own_operations_per_s);
    return "0";
}

void print(std::ostream& out, const Probe& probe, const DamageReport& report, std::size_t blocks)
{
    std::vector<std::vector<std::string>> lines{
        {(probe.cpus.size() == 1 ? "noise on CPU " : "noise on CPUs ") + base::format_cpus(probe.cpus), "own traffic",
         "bandwidth kept", "latency", "cached latency"},
        {"quiet", "0", speed_text(report.alone.bytes_per_s), latency_text(report.alone.load_ns),
         latency_text(report.alone.cached_load_ns)}};
    for (const Damage& damage : report.damages)
        lines.push_back({damage.name(), traffic_text(damage), text(damage.bandwidth_kept), text(damage.latency_factor),
                         text(damage.cache_latency_factor)});
    out << table_text(lines, 1) << "A victim on CPU " << probe.victim
        << ", as shares of quiet with 95 % intervals over " << blocks << " blocks.\n";
    for (const std::string& remark : remarks(report)) out << remark << "\n";
}

void warn_of_shared_core(const Probe& probe)
{
    base::CpuSet all = probe.cpus;
    all.insert(probe.victim);
    for (const base::Core& core : base::physical_cores(all))
        if (core.cpus.contains(probe.victim) && core.cpus.size() > 1)
            base::warn("the victim shares its core with noise (CPUs " + base::format_cpus(core.cpus) + ")");
}

// Before either has taken of what the other's share is measured by; disks are looked at when noise begins.
void check_memory_together(std::vector<Demand> noise, const Victim::Setup& setup, const Budgets& budgets)
{
    for (Demand& demand : noise) demand.needs.directory.clear();
    Needs victim;
    victim.memory = Victim::memory(setup);
    noise.push_back({.stressor = "the victim", .needs = victim, .instances = 1});
    check_demands(noise, budgets);
}

// All shapes have memory of their own at once: the CPUs that share a cache together pass it four times over.
base::Bytes memory_of_each(const base::CpuSet& cpus)
{
    constexpr std::int64_t mib = std::int64_t{1} << 20U;
    std::int64_t most = 64 * mib;
    for (const int cpu : cpus) {
        const Cache cache = last_level_cache(cpu);
        const auto sharers =
            std::count_if(cpus.begin(), cpus.end(), [&](int other) { return cache.cpus.contains(other); });
        most = std::max(most, 4 * cache.size.count / std::max<std::int64_t>(1, sharers));
    }
    return {(most + mib - 1) / mib * mib};
}

nlohmann::ordered_json record_of(const Probe& probe, const Schedule& schedule, const Victim::Setup& setup)
{
    nlohmann::ordered_json record = base::run_record("noisegen probe");
    record["schedule"] = schedule.text;
    record["seed"] = probe.seed;
    record["slot_ns"] = probe.slot.count();
    record["victim_cpu"] = probe.victim;
    record["victim_array_bytes"] = setup.array.count;
    record["victim_cached_bytes"] = setup.cached.count;
    record["noise_cpus"] = base::format_cpus(probe.cpus);
    return record;
}

}  // namespace

std::vector<std::string> default_probe_stressors(const base::CpuSet& cpus)
{
    const std::string bytes = "bytes=" + base::format(memory_of_each(cpus));
    return {"placebo", "cpu.spin", "memory.stream[" + bytes + ",shape=" + base::join_words(stream_shapes(), "|") + "]",
            "memory.random[" + bytes + "]", "cache.llc"};
}

int probe(const Probe& probe)
{
    const Victim::Setup setup = Victim::setup(probe.victim, probe.array);
    Schedule schedule = schedule_of(probe);
    const std::vector<std::vector<int>> runs = divide(schedule, base::physical_cores(probe.cpus));
    resolve_rates(schedule, runs, probe.limits_file);
    check_memory_together(demands(schedule, runs), setup, probe.budgets);
    warn_of_shared_core(probe);
    std::optional<base::ClaimedPart> claimed;
    if (!probe.out.empty()) claimed.emplace(probe.out, "probe");
    nlohmann::ordered_json record = record_of(probe, schedule, setup);

    base::bind_this_thread(probe.cpus);
    Measured measured = measure(probe, schedule, setup);
    const std::size_t blocks = keep_whole_blocks(measured);
    if (blocks < 2) {
        base::warn("asked to stop before two blocks were complete: nothing to report");
        return base::exit_promise_not_kept;
    }
    DamageReport report = damage(schedule, measured.table, measured.start_ns, measured.slices);
    for (std::size_t i = 0; i < report.damages.size(); ++i) {
        report.damages[i].own_bytes_per_s = measured.traffic.levels[i].bytes_per_s();
        report.damages[i].own_operations_per_s = measured.traffic.levels[i].operations_per_s();
    }
    report.noise_waited = measured.traffic.waited();
    print(std::cout, probe, report, blocks);
    if (claimed) {
        record["blocks"] = blocks;
        claimed->keep();
        write_probe_csv(claimed->path(), report);
        write_probe_json(claimed->path(), record, report);
        draw_probe(claimed->path(), report);
    }
    base::flush_stdout();
    return base::exit_fine;
}

}  // namespace noisegen
