// SPDX-License-Identifier: Apache-2.0
#include "noisegen/measure/pressure.hpp"

#include "base/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace noisegen {

namespace {

constexpr int looks_a_level = 200;  // points between two levels at which the interval is searched

// Interpolates between the levels `at` and `at` + 1; level 0 is quiet and slows nothing.
double between(const std::vector<std::vector<double>>& by_level, std::size_t at, double share, std::size_t block)
{
    const double lower = at == 0 ? 0.0 : by_level[at - 1][block];
    return lower + share * (by_level[at][block] - lower);
}

// Is the program's effect indistinguishable from the curve at this point?
bool holds_zero(const Slowdowns& all, std::size_t at, double share)
{
    std::vector<double> differences;
    for (std::size_t block = 0; block < all.program.size(); ++block)
        differences.push_back(all.program[block] - between(all.by_level, at, share, block));
    return base::mean_of(differences).interval(0.95).contains(0.0);
}

Estimate as_percent(const Estimate& logarithms)
{
    const auto percent = [](double value) { return 100.0 * std::expm1(value / 100.0); };
    return {percent(logarithms.value), percent(logarithms.low), percent(logarithms.high), logarithms.blocks};
}

// Position of a value on a non-decreasing curve; none beyond its end.
std::optional<double> where(const std::vector<double>& levels, const std::vector<double>& curve, double value)
{
    if (value <= 0.0) return 0.0;
    double level = 0.0;
    double reached = 0.0;
    for (std::size_t i = 0; i < levels.size(); ++i) {
        if (curve[i] >= value && curve[i] > reached)
            return level + (value - reached) / (curve[i] - reached) * (levels[i] - level);
        level = levels[i];
        reached = curve[i];
    }
    return {};
}

}  // namespace

const std::vector<PressureKind>& pressure_kinds()
{
    static const std::vector<PressureKind> kinds{
        {"memory.stream", Slice::Kind::read, "memory bandwidth"},
        {"cache.llc", Slice::Kind::cache, "loads from the last-level cache"},
        {"io.write", Slice::Kind::write, "writes past the page cache"},
        {"network.exchange", Slice::Kind::message, "messages over loopback"},
    };
    return kinds;
}

Pressure pressure(const Slowdowns& slowdowns)
{
    Pressure found;
    const Estimate program = estimate(slowdowns.program);
    found.program = as_percent(program);
    std::vector<double> means;
    for (const std::vector<double>& level : slowdowns.by_level) {
        const Estimate of_level = estimate(level);
        found.levels.push_back(as_percent(of_level));
        means.push_back(std::max(0.0, of_level.value));
    }
    const std::vector<double>& levels = slowdowns.levels;
    found.felt = found.levels.back().low > 0.0;
    found.level = where(levels, base::isotonic(means), program.value);
    found.low = found.level.value_or(levels.back());
    found.high = found.level;
    double lower = 0.0;
    for (std::size_t at = 0; at < levels.size(); ++at) {
        for (int look = 0; look <= looks_a_level; ++look) {
            const double share = static_cast<double>(look) / looks_a_level;
            if (!holds_zero(slowdowns, at, share)) continue;
            const double level = lower + share * (levels[at] - lower);
            found.low = std::min(found.low, level);
            if (found.high) found.high = std::max(*found.high, level);
        }
        lower = levels[at];
    }
    if (found.high && holds_zero(slowdowns, levels.size() - 1, 1.0)) found.high.reset();
    return found;
}

Slowdowns slowdowns(const DoneByBlock& blocks, Slice::Kind kind, std::size_t program,
                    const std::vector<std::size_t>& levels, const std::vector<double>& reached)
{
    std::vector<std::size_t> order(levels.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return reached[a] < reached[b]; });
    Slowdowns all;
    for (const std::size_t i : order) all.levels.push_back(reached[i]);
    all.by_level.resize(levels.size());
    for (const auto& [block, done] : blocks) {
        const Done& quiet = of_kind(done.back(), kind);
        const auto slowdown = [&](std::size_t level) {
            return 100.0 * std::log(quiet.per_second() / of_kind(done[level], kind).per_second());
        };
        bool whole = std::isfinite(slowdown(program));
        for (const std::size_t level : levels) whole = whole && std::isfinite(slowdown(level));
        if (!whole) continue;
        all.program.push_back(slowdown(program));
        for (std::size_t i = 0; i < order.size(); ++i) all.by_level[i].push_back(slowdown(levels[order[i]]));
    }
    return all;
}

}  // namespace noisegen
