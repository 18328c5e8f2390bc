#include "noisegen/probe.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/progress.hpp"
#include "base/run_record.hpp"
#include "base/words.hpp"
#include "noisegen/figures.hpp"
#include "noisegen/limits_file.hpp"
#include "noisegen/measured_run.hpp"
#include "noisegen/placement.hpp"
#include "noisegen/probe_files.hpp"
#include "noisegen/shelf.hpp"
#include "noisegen/stream_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <optional>

namespace noisegen {

namespace {

void note(const std::string& text)
{
    std::cerr << "noisegen: " + text + "\n";
}

Schedule schedule_of(const Probe& probe)
{
    const std::vector<std::string> stressors = probe.stressors.empty() ? default_probe_stressors() : probe.stressors;
    return parse_schedule("rotation(" + base::join_words(stressors, ", ") + "; chip=" + base::format(probe.chip) + ")");
}

// The noise's own traffic, all CPUs together, added up as phases end.
struct Traffic {
    std::vector<DoseTotal> doses;

    void add(const PhaseDone& done, std::size_t cpus)
    {
        if (!done.dose) return;
        noisegen::add(doses[*done.dose], done.level);
        doses[*done.dose].cpus = cpus;
    }

    double waited() const
    {
        double on_ns = 0.0;
        double waited_ns = 0.0;
        for (const DoseTotal& total : doses) {
            on_ns += static_cast<double>(total.busy_ns);
            waited_ns += static_cast<double>(total.waited_ns);
        }
        return on_ns == 0.0 ? 0.0 : waited_ns / on_ns;
    }
};

struct Measured {
    std::vector<Chip> table;
    std::int64_t start_ns = 0;
    std::vector<Slice> slices;
    Traffic traffic;
    bool complete = false;
};

Measured measure(const Probe& probe, const Schedule& schedule, const Victim::Setup& setup)
{
    Measured measured;
    measured.table = chip_table(schedule, probe.seed, schedule.block_length() * probe.blocks);
    measured.traffic.doses.resize(schedule.doses.size());
    Victim victim{setup};
    base::Progress progress{"noisegen probe"};
    measured.complete = run(
        {.schedule = schedule,
         .cpus = probe.cpus,
         .budgets = probe.budgets,
         .table = measured.table,
         .on_phase = [&](std::size_t, const PhaseDone& done) { measured.traffic.add(done, probe.cpus.size()); },
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
    for (const Chip& chip : measured.table)
        if (measured.start_ns + chip.end.count() <= last_ns) blocks = chip.block;
    const bool all = measured.complete;
    std::erase_if(measured.table, [&](const Chip& chip) { return !all && chip.block >= blocks; });
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
        {"quiet", "0", speed_text(report.alone.bytes_per_s), figure(report.alone.load_ns, 1) + " ns",
         figure(report.alone.cached_load_ns, 1) + " ns"}};
    for (const Damage& damage : report.damages)
        lines.push_back({damage.name(), traffic_text(damage), text(damage.bandwidth_kept), text(damage.latency_factor),
                         text(damage.cache_latency_factor)});
    out << table_text(lines, 1) << "A victim on CPU " << probe.victim
        << ", as shares of quiet with 95 % intervals over " << blocks << " blocks.\n";
    for (const std::string& remark : remarks(report)) out << remark << "\n";
}

void check(const Probe& probe, const Victim::Setup& setup)
{
    base::check_cpus({probe.victim});
    if (probe.cpus.contains(probe.victim))
        base::fail_usage("CPU ", probe.victim, " is the victim's; make noise on other --cpus");
    if (probe.blocks < 2 || probe.blocks > 100'000)
        base::fail_usage("--blocks: 2 to 100000, not ", probe.blocks, "; intervals need two at least");
    constexpr base::Nanoseconds shortest{50'000'000};
    if (probe.chip < shortest)
        base::fail_usage("--chip: 50ms at least, so that some of the victim's slices lie wholly in it");
    base::CpuSet all = probe.cpus;
    all.insert(probe.victim);
    for (const base::Core& core : base::physical_cores(all))
        if (core.cpus.contains(probe.victim) && core.cpus.size() > 1)
            note("the victim shares its core with noise (CPUs " + base::format_cpus(core.cpus) + ")");
    Needs needs;
    needs.memory = Victim::memory(setup);
    check_demands({{.stressor = "the victim", .needs = needs, .instances = 1}}, probe.budgets);
}

nlohmann::ordered_json record_of(const Probe& probe, const Schedule& schedule, const Victim::Setup& setup)
{
    nlohmann::ordered_json record = base::run_record("noisegen probe");
    record["schedule"] = schedule.text;
    record["seed"] = probe.seed;
    record["chip_ns"] = probe.chip.count();
    record["victim_cpu"] = probe.victim;
    record["victim_array_bytes"] = setup.array.count;
    record["victim_cached_bytes"] = setup.cached.count;
    record["noise_cpus"] = base::format_cpus(probe.cpus);
    return record;
}

}  // namespace

std::vector<std::string> default_probe_stressors()
{
    std::vector<std::string> words{"placebo", "cpu.spin",
                                   "memory.stream[shape=" + base::join_words(stream_shapes(), "|") + "]"};
    const std::vector<std::string> there = stressors().names();
    for (const std::string name : {"memory.random", "cache.llc"})
        if (std::find(there.begin(), there.end(), name) != there.end()) words.push_back(name);
    return words;
}

int probe(const Probe& probe)
{
    const Victim::Setup setup = Victim::setup(probe.victim, probe.array);
    check(probe, setup);
    Schedule schedule = schedule_of(probe);
    resolve_rates(schedule, divide(schedule, base::physical_cores(probe.cpus)), probe.limits_file);
    std::optional<base::ClaimedPart> claimed;
    if (!probe.out.empty()) claimed.emplace(probe.out, "probe");
    nlohmann::ordered_json record = record_of(probe, schedule, setup);

    base::bind_this_thread(probe.cpus);
    Measured measured = measure(probe, schedule, setup);
    const std::size_t blocks = keep_whole_blocks(measured);
    if (blocks < 2) {
        note("asked to stop before two blocks were complete: nothing to tell");
        return base::exit_promise_not_kept;
    }
    DamageReport report = damage(schedule, measured.table, measured.start_ns, measured.slices);
    for (std::size_t i = 0; i < report.damages.size(); ++i) {
        report.damages[i].own_bytes_per_s = measured.traffic.doses[i].bytes_per_s();
        report.damages[i].own_operations_per_s = measured.traffic.doses[i].operations_per_s();
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
    if (!std::cout.flush()) base::fail("cannot write the table");
    return base::exit_fine;
}

}  // namespace noisegen
