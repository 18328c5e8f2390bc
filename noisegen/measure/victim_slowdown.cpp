// SPDX-License-Identifier: Apache-2.0
#include "noisegen/measure/victim_slowdown.hpp"

#include "base/error.hpp"
#include "base/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace noisegen {

namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
constexpr double weakened_share = 0.1;
constexpr double felt = 0.05;  // smaller effects cannot be separated from the machine's own noise

// If cache latency is at least this share of memory latency, others fill the cache, or a virtual machine reports a
// cache that it does not have.
constexpr double no_cache = 0.8;

// Is a slice of this kind timed by the victim's CPU time?
bool by_own_cpu(Slice::Kind kind)
{
    return kind != Slice::Kind::write && kind != Slice::Kind::message;
}

bool was_disturbed(const Slice& slice)
{
    return by_own_cpu(slice.kind) &&
           static_cast<double>(slice.cpu_ns) < 0.9 * static_cast<double>(slice.end_ns - slice.begin_ns);
}

// Ratio over blocks, inverted for latencies: more loads per second mean less latency.
Estimate over_blocks(const DoneByBlock& blocks, std::size_t level, Slice::Kind kind)
{
    std::vector<double> ratios;
    for (const auto& [block, sums] : blocks) {
        const Done& noisy = of_kind(sums[level], kind);
        const Done& quiet = of_kind(sums.back(), kind);
        if (noisy.amount == 0.0 || quiet.amount == 0.0) continue;
        const double ratio = noisy.per_second() / quiet.per_second();
        ratios.push_back(kind == Slice::Kind::read ? ratio : 1.0 / ratio);
    }
    return estimate_ratio(ratios);
}

double quiet_per_second(const VictimDone& done, Slice::Kind kind)
{
    const std::vector<double>& slices = done.quiet_per_second[static_cast<std::size_t>(kind)];
    return slices.empty() ? 0.0 : base::median(slices);
}

const Damage* of_card(const std::vector<Damage>& damages, const std::string& card)
{
    const auto found = std::ranges::find_if(damages, [&](const Damage& d) { return d.card == card; });
    return found == damages.end() ? nullptr : &*found;
}

bool aims_at_memory(const Damage& damage)
{
    return damage.card.starts_with("memory.") || damage.card.starts_with("cache.");
}

bool excludes_one(const Estimate& estimate)
{
    return estimate.low > 1.0 || estimate.high < 1.0;
}

bool is_felt(const Estimate& estimate)
{
    return excludes_one(estimate) && std::abs(estimate.value - 1.0) > felt;
}

// Does the damage exceed that of mere computation on the noise CPUs?
bool reaches_the_victim(const Damage& damage, const Damage* spin)
{
    const double kept = spin == nullptr ? 1.0 : spin->bandwidth_kept.value;
    const double latency = spin == nullptr ? 1.0 : spin->latency_factor.value;
    const double cache_latency = spin == nullptr ? 1.0 : spin->cache_latency_factor.value;
    return (is_felt(damage.bandwidth_kept) && damage.bandwidth_kept.value < kept - felt) ||
           (is_felt(damage.latency_factor) && damage.latency_factor.value > latency + felt) ||
           (is_felt(damage.cache_latency_factor) && damage.cache_latency_factor.value > cache_latency + felt);
}

}  // namespace

Estimate estimate(const std::vector<double>& blocks)
{
    if (blocks.empty()) return {nothing, nothing, nothing, 0};
    if (blocks.size() < 2) return {blocks.front(), nothing, nothing, 1};
    const base::Mean mean = base::mean_of(blocks);
    const base::Interval interval = mean.interval(0.95);
    return {mean.value, interval.low, interval.high, blocks.size()};
}

Estimate estimate_ratio(const std::vector<double>& blocks)
{
    std::vector<double> logarithms;
    for (const double ratio : blocks) logarithms.push_back(std::log(ratio));
    const Estimate found = estimate(logarithms);
    return {std::exp(found.value), std::exp(found.low), std::exp(found.high), found.blocks};
}

VictimDone victim_done(const Schedule& schedule, const std::vector<Slot>& table, std::int64_t start_ns,
                       const std::vector<Slice>& slices, base::Nanoseconds guard)
{
    VictimDone done;
    std::array<std::vector<double>, Slice::kinds> disturbed;
    auto slot = table.begin();
    for (const Slice& slice : slices) {
        while (slot != table.end() && start_ns + slot->end.count() < slice.end_ns) ++slot;
        if (slot == table.end()) break;
        if (slice.begin_ns < start_ns + (slot->begin + guard).count()) continue;
        ++done.slices;
        if (was_disturbed(slice)) ++done.disturbed;
        auto& levels = done.blocks.try_emplace(slot->block, schedule.levels.size() + 1).first->second;
        const std::size_t level = slot->treatment.empty() ? schedule.levels.size() : slot->treatment.front();
        Done& sum = levels[level][static_cast<std::size_t>(slice.kind)];
        const double seconds =
            static_cast<double>(by_own_cpu(slice.kind) ? slice.cpu_ns : slice.end_ns - slice.begin_ns) * 1e-9;
        sum.amount += slice.amount;
        sum.seconds += seconds;
        if (slot->treatment.empty() && seconds > 0.0)
            (was_disturbed(slice) ? disturbed : done.quiet_per_second)[static_cast<std::size_t>(slice.kind)].push_back(
                slice.amount / seconds);
    }
    for (std::size_t kind = 0; kind < Slice::kinds; ++kind)
        if (done.quiet_per_second[kind].empty()) done.quiet_per_second[kind] = disturbed[kind];
    return done;
}

DamageReport damage(const Schedule& schedule, const std::vector<Slot>& table, std::int64_t start_ns,
                    const std::vector<Slice>& slices, base::Nanoseconds guard)
{
    const VictimDone done = victim_done(schedule, table, start_ns, slices, guard);
    const DoneByBlock& blocks = done.blocks;
    DamageReport report;
    report.slices = done.slices;
    report.disturbed = done.disturbed;
    for (std::size_t i = 0; i < schedule.levels.size(); ++i) {
        const FactorLevel& level = schedule.levels[i];
        report.damages.push_back({.stressor = level.factor,
                                  .level = level.level,
                                  .card = schedule.stressors[level.stressor].card->name,
                                  .own_bytes_per_s = 0.0,
                                  .own_operations_per_s = 0.0,
                                  .bandwidth_kept = over_blocks(blocks, i, Slice::Kind::read),
                                  .latency_factor = over_blocks(blocks, i, Slice::Kind::chase),
                                  .cache_latency_factor = over_blocks(blocks, i, Slice::Kind::cache)});
    }
    report.alone = {.bytes_per_s = quiet_per_second(done, Slice::Kind::read),
                    .load_ns = 1e9 / quiet_per_second(done, Slice::Kind::chase),
                    .cached_load_ns = 1e9 / quiet_per_second(done, Slice::Kind::cache)};
    return report;
}

std::vector<std::string> remarks(const DamageReport& report)
{
    const auto percent = [](double share) { return base::join(std::round(share * 100.0), "%"); };
    std::vector<std::string> words;
    const Damage* placebo = of_card(report.damages, "placebo");
    if (placebo != nullptr && (is_felt(placebo->bandwidth_kept) || is_felt(placebo->latency_factor)))
        words.push_back("placebo does nothing, yet the victim kept " + percent(placebo->bandwidth_kept.value) +
                        " of its bandwidth: do not trust this run");
    const Damage* spin = of_card(report.damages, "cpu.spin");
    if (spin != nullptr && (is_felt(spin->bandwidth_kept) || is_felt(spin->latency_factor)))
        words.push_back("cpu.spin touches no memory, yet the victim kept " + percent(spin->bandwidth_kept.value) +
                        " of its bandwidth: this part is clock frequency or a shared core");
    const auto& all = report.damages;
    const auto count = [&all](const auto& holds) { return std::ranges::count_if(all, holds); };
    if (count([](const Damage& d) { return std::isnan(d.bandwidth_kept.low + d.latency_factor.low); }) > 0)
        words.push_back("too few of the victim's measurements fit into a slot: give a longer --slot");
    else if (report.noise_waited > weakened_share)
        words.push_back("other processes used the noise's CPUs for " + percent(report.noise_waited) +
                        " of the time: the damage is underestimated");
    else if (count(aims_at_memory) > 0 &&
             count([&](const Damage& d) { return aims_at_memory(d) && reaches_the_victim(d, spin); }) == 0)
        words.push_back(base::join("victim and noise do not share a memory path now: no memory noise took more than ",
                                   percent(felt), spin == nullptr ? " from the victim" : " beyond cpu.spin"));
    if (report.alone.cached_load_ns > no_cache * report.alone.load_ns)
        words.push_back(base::join("the victim's loads from the last-level cache take as long as from memory (",
                                   std::round(report.alone.cached_load_ns), " ns against ",
                                   std::round(report.alone.load_ns),
                                   " ns): it has no share of that cache now, so this latency is that of memory"));
    if (report.disturbed * 10 > report.slices)
        words.push_back(base::join("another process ran on the victim's CPU in ", report.disturbed, " of ",
                                   report.slices, " measurements and used its caches"));
    return words;
}

}  // namespace noisegen
