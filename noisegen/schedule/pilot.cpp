// SPDX-License-Identifier: Apache-2.0
#include "noisegen/schedule/pilot.hpp"

#include "base/random.hpp"
#include "base/statistics.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

namespace noisegen {

namespace {

constexpr std::size_t times_each = 8;
constexpr std::size_t quiet_after_each = 2;

std::vector<std::size_t> noises_of(const Schedule& schedule)
{
    std::vector<std::size_t> noises;
    for (std::size_t i = 0; i < schedule.levels.size(); ++i)
        if (schedule.stressors[schedule.levels[i].stressor].card->role == base::Role::treatment) noises.push_back(i);
    return noises;
}

// Mean time of a step, by slot; none if no step began in the slot.
std::vector<std::optional<double>> step_times(const std::vector<Slot>& table, std::span<const SeenSteps> steps)
{
    std::vector<double> time_ns(table.size());
    std::vector<double> count(table.size());
    for (const SeenSteps& seen : steps) {
        const auto after = std::upper_bound(table.begin(), table.end(), base::Nanoseconds{seen.begin_ns},
                                            [](base::Nanoseconds at, const Slot& slot) { return at < slot.end; });
        if (after == table.end() || seen.begin_ns < 0) continue;
        const auto slot = static_cast<std::size_t>(after - table.begin());
        time_ns[slot] += static_cast<double>(seen.length_ns);
        count[slot] += static_cast<double>(seen.count);
    }
    std::vector<std::optional<double>> means(table.size());
    for (std::size_t i = 0; i < table.size(); ++i)
        if (count[i] > 0.0) means[i] = time_ns[i] / count[i];
    return means;
}

LeftBehind judge(std::string noise, const std::vector<double>& differences)
{
    LeftBehind left{.noise = std::move(noise)};
    if (differences.size() < 2) return left;
    const base::Mean mean = base::mean_of(differences);
    left.percent = mean.value;
    const double p = mean.p_value() / 2.0;
    left.p = mean.value > 0.0 ? p : 1.0 - p;
    return left;
}

}  // namespace

bool PilotRound::lasts() const
{
    return std::ranges::any_of(left, [](const LeftBehind& noise) { return noise.lasts(); });
}

std::vector<Slot> pilot_table(const Schedule& schedule, std::uint64_t seed, base::Nanoseconds slot)
{
    std::vector<std::size_t> noises = noises_of(schedule);
    std::vector<Slot> table;
    if (noises.empty()) return table;
    const auto add = [&](std::uint64_t block, Treatment treatment) {
        const base::Nanoseconds begin = table.empty() ? base::Nanoseconds{} : table.back().end;
        table.push_back({table.size(), block, table.size(), begin, begin + slot, std::move(treatment)});
    };
    base::Random random{seed};
    add(0, {});
    for (std::uint64_t block = 0; block < times_each; ++block) {
        base::shuffle(random, std::span{noises});
        for (const std::size_t noise : noises) {
            add(block, {noise});
            for (std::size_t i = 0; i < quiet_after_each; ++i) add(block, {});
        }
    }
    return table;
}

std::vector<LeftBehind> left_behind(const Schedule& schedule, const std::vector<Slot>& table,
                                    std::span<const SeenSteps> steps)
{
    const std::vector<std::optional<double>> times = step_times(table, steps);
    std::map<std::size_t, std::vector<double>> differences;  // keyed by noise, in percent
    for (std::size_t i = 1; i + quiet_after_each < table.size(); ++i) {
        if (table[i].treatment.empty()) continue;
        std::vector<double>& of_noise = differences[table[i].treatment.front()];
        const auto& [before, after, later] = std::tie(times[i - 1], times[i + 1], times[i + 2]);
        if (!before || !after || !later) continue;
        const double expected = (*before + 2.0 * *later) / 3.0;  // the slot `before` is two slots away, `later` one
        of_noise.push_back(100.0 * (*after / expected - 1.0));
    }
    std::vector<LeftBehind> left;
    std::vector<double> p;
    for (const auto& [noise, percent] : differences) {
        left.push_back(judge(text(schedule.levels[noise]), percent));
        p.push_back(left.back().p);
    }
    const std::vector<double> adjusted = base::holm(p);
    for (std::size_t i = 0; i < left.size(); ++i) left[i].p = adjusted[i];
    return left;
}

bool has_time_for_pilot(const Schedule& schedule, base::Nanoseconds slot, base::Nanoseconds duration,
                        base::Nanoseconds took)
{
    constexpr std::int64_t share = 5;
    constexpr base::Nanoseconds longest = std::chrono::minutes{2};  // the user waits until noise begins
    const std::vector<Slot> table = pilot_table(schedule, 0, slot);
    return !table.empty() && took + table.back().end <= std::min(duration / share, longest);
}

bool may_double(Schedule schedule, base::Nanoseconds slot, base::Nanoseconds duration)
{
    constexpr std::int64_t least_blocks = 10;
    schedule.set_slot(2 * slot);
    return least_blocks * schedule.block_length() <= duration;
}

}  // namespace noisegen
