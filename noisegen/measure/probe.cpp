// SPDX-License-Identifier: Apache-2.0
#include "noisegen/measure/probe.hpp"

#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/figures.hpp"
#include "base/files.hpp"
#include "base/words.hpp"
#include "noisegen/measure/probe_files.hpp"
#include "noisegen/stressors/footprint.hpp"
#include "noisegen/stressors/memory/stream_kernels.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <optional>

namespace noisegen {

namespace {

std::string figure(double value, int digits)
{
    return std::isnan(value) ? "-" : base::fixed(value, digits);
}

std::string text(const Estimate& estimate)
{
    if (std::isnan(estimate.value)) return "-";
    return figure(estimate.value, 2) + " [" + figure(estimate.low, 2) + ", " + figure(estimate.high, 2) + "]";
}

std::string latency_text(double ns)
{
    return std::isnan(ns) ? "-" : base::fixed(ns, 1) + " ns";
}

std::string traffic_text(const Damage& damage)
{
    if (damage.own_bytes_per_s > 0.0) return base::speed_text(damage.own_bytes_per_s);
    if (damage.own_operations_per_s > 0.0) return base::operations_text(damage.own_operations_per_s);
    return "0";
}

void print(std::ostream& out, const Probe& probe, const DamageReport& report, std::size_t blocks)
{
    std::vector<std::vector<std::string>> lines{
        {(probe.cpus.size() == 1 ? "noise on CPU " : "noise on CPUs ") + base::format_cpus(probe.cpus), "own traffic",
         "bandwidth kept", "latency", "cached latency"},
        {"quiet", "0", base::speed_text(report.alone.bytes_per_s), latency_text(report.alone.load_ns),
         latency_text(report.alone.cached_load_ns)}};
    for (const Damage& damage : report.damages)
        lines.push_back({damage.name(), traffic_text(damage), text(damage.bandwidth_kept), text(damage.latency_factor),
                         text(damage.cache_latency_factor)});
    out << base::table_text(lines, 1) << "A victim on CPU " << probe.victim
        << ", as shares of quiet with 95 % intervals over " << blocks << " blocks.\n";
    for (const std::string& remark : remarks(report)) out << remark << "\n";
}

// All shapes have their own memory at the same time. The CPUs that share a cache together use four times its size, if
// the machine has enough memory.
base::Bytes memory_of_each(const base::CpuSet& cpus)
{
    constexpr std::int64_t mib = std::int64_t{1} << 20U;
    std::int64_t most = 64 * mib;
    for (const int cpu : cpus) {
        const Cache cache = last_level_cache(cpu);
        const auto sharers = std::ranges::count_if(cpus, [&](int other) { return cache.cpus.contains(other); });
        most = std::max(most, beyond_caches(cpu).count / std::max<std::int64_t>(1, sharers));
    }
    return {(most + mib - 1) / mib * mib};
}

}  // namespace

std::string all_stream_shapes(const base::CpuSet& cpus)
{
    return base::join("memory.stream[bytes=", base::format(memory_of_each(cpus)),
                      ",shape=", base::join_words(stream_shapes(), "|"), "]");
}

std::vector<std::string> default_probe_stressors(const base::CpuSet& cpus)
{
    return {"placebo", "cpu.spin", all_stream_shapes(cpus),
            base::join("memory.random[bytes=", base::format(memory_of_each(cpus)), "]"), "cache.llc"};
}

DamageReport damage_of(const Schedule& schedule, const ProbeRun& run)
{
    DamageReport report = damage(schedule, run.table, run.start_ns, run.slices);
    for (std::size_t i = 0; i < report.damages.size(); ++i) {
        report.damages[i].own_bytes_per_s = run.levels[i].bytes_per_s();
        report.damages[i].own_operations_per_s = run.levels[i].operations_per_s();
    }
    report.noise_waited = run.noise_waited();
    return report;
}

int probe(const Probe& probe)
{
    const Victim::Setup setup = Victim::setup(probe.victim, probe.array);
    Schedule schedule =
        probe_schedule(probe, probe.stressors.empty() ? default_probe_stressors(probe.cpus) : probe.stressors);
    check_probe(probe, schedule, setup);
    if (probe.array == "auto" && is_bounded_by_memory(probe.victim))
        base::warn("the last-level cache is reported as ", base::format(last_level_cache(probe.victim).size),
                   ", large for this machine's memory: arrays of ", base::format(setup.array),
                   " instead of four times that");
    std::optional<base::ClaimedPart> claimed;
    if (!probe.out.empty()) claimed.emplace(probe.out, base::part::probe);
    nlohmann::ordered_json record = probe_record(probe, schedule, setup);

    const ProbeRun run = run_probe(probe, schedule, setup);
    if (run.blocks < 2) {
        base::warn("stopped before two blocks were complete: nothing to report");
        return base::exit_promise_not_kept;
    }
    const DamageReport report = damage_of(schedule, run);
    print(std::cout, probe, report, run.blocks);
    if (claimed) {
        record["blocks"] = run.blocks;
        claimed->keep();
        write_probe_csv(claimed->path(), report);
        write_probe_json(claimed->path(), record, report);
        draw_probe(claimed->path(), report);
    }
    base::flush_stdout();
    return base::exit_fine;
}

}  // namespace noisegen
