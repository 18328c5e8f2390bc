// SPDX-License-Identifier: Apache-2.0
#include "analysis/estimate/assigned/long_steps.hpp"

#include "base/columns/long_order.hpp"
#include "base/contract/phases.hpp"
#include "base/contract/roles.hpp"
#include "base/error.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>

namespace analysis {

namespace {

constexpr double limit_deviations = 5.0;
constexpr double most_accidents = 0.05;  // share of one treatment's steps above which accidents are not rare
constexpr int neighbours = 2;            // number of blocks on each side that share a centre
constexpr double mad_to_deviation = 1.4826;
constexpr double rounding = 1e-6;  // relative; otherwise rounding errors are accidents where the deviation is zero
constexpr std::size_t least_of_stratum = 4;
constexpr double least_long_of_period = 0.8;
constexpr std::size_t most_strata = 4;

// Times of the steps of one treatment, block by block.
struct ByBlock {
    base::LongColumn<double> ms;
    std::vector<std::size_t> begin;  // [block]: index of its first step; then the end
};

std::vector<ByBlock> whole_steps(const Measures& step_ms, const Exposures& exposures,
                                 const base::LongColumn<int>& block, const Experiment& plan)
{
    const StepsByBlock steps{block, plan.blocks};
    std::vector<ByBlock> whole(plan.treatments.size());
    for (int b = 0; b < plan.blocks; ++b) {
        for (ByBlock& treatment : whole) treatment.begin.push_back(treatment.ms.size());
        steps.each(b, [&](std::size_t i) {
            if (wholly_under_its_own(exposures, plan, i))
                whole[treatment_of(exposures, plan, i)].ms.push_back(step_ms.first(i));
        });
    }
    for (ByBlock& treatment : whole) treatment.begin.push_back(treatment.ms.size());
    return whole;
}

// Median of the steps that begin under a treatment; if there are none, of all steps.
double median_of_run(const Measures& step_ms, const Exposures& exposures, const base::LongColumn<int>& block,
                     const Experiment& plan, std::size_t treatment)
{
    base::LongColumn<double> under;
    base::LongColumn<double> all;
    for (std::size_t i = 0; i < block.size(); ++i) {
        if (block[i] < 0) continue;
        all.push_back(step_ms.first(i));
        if (treatment_of(exposures, plan, i) == treatment) under.push_back(step_ms.first(i));
    }
    return base::median(under.empty() ? all : under);
}

// Medians of wholly covered steps, by block and treatment; if a window has none, of the whole run.
Eigen::MatrixXd medians_by_block(const Measures& step_ms, const Exposures& exposures,
                                 const base::LongColumn<int>& block, const Experiment& plan)
{
    const std::vector<ByBlock> whole = whole_steps(step_ms, exposures, block, plan);
    Eigen::MatrixXd centre(plan.blocks, static_cast<Eigen::Index>(plan.treatments.size()));
    for (std::size_t t = 0; t < plan.treatments.size(); ++t) {
        std::optional<double> fallback;
        for (int b = 0; b < plan.blocks; ++b) {
            const auto near = static_cast<std::size_t>(std::max(0, b - neighbours));
            const auto until = static_cast<std::size_t>(std::min(plan.blocks, b + neighbours + 1));
            const std::size_t first = whole[t].begin[near];
            const std::size_t last = whole[t].begin[until];
            if (first == last && !fallback) fallback = median_of_run(step_ms, exposures, block, plan, t);
            centre(b, static_cast<Eigen::Index>(t)) =
                first == last ? *fallback : base::median(whole[t].ms, first, last);
        }
    }
    return centre;
}

// The centre of a step in a slot: that of its treatment in the block, plus the carry-over of earlier slots.
class Centres {
 public:
    Centres(Eigen::MatrixXd by_block, const std::vector<double>& left, const Experiment& plan)
        : by_block_{std::move(by_block)}, left_{left}, plan_{plan}
    {
    }

    double of(int block, const Overlap& overlap) const
    {
        const double own = by_block_(block, static_cast<Eigen::Index>(treatment_of(overlap, plan_.treatment_of)));
        return left_.empty() ? own : own * (1.0 + left_[overlap.slot]);
    }
    const Eigen::MatrixXd& by_block() const { return by_block_; }

 private:
    Eigen::MatrixXd by_block_;
    const std::vector<double>& left_;
    const Experiment& plan_;
};

double mixed_centre(const Overlaps& shares, int block, const Centres& centres)
{
    double time = 0.0;
    double work = 0.0;
    for (const Overlap& overlap : shares) {
        time += overlap.share;
        work += overlap.share / centres.of(block, overlap);
    }
    return time / work;
}

// The longest centre of the step's treatments, because it is not known where a treatment acts within a step.
double longest_centre(const Overlaps& shares, int block, const Centres& centres)
{
    double longest = 0.0;
    for (const Overlap& overlap : shares) longest = std::max(longest, centres.of(block, overlap));
    return longest;
}

// [block]: the centre of the slowest noise, without controls.
Eigen::VectorXd slowest(const Eigen::MatrixXd& centre, const Experiment& plan)
{
    Eigen::VectorXd most = centre.col(0);
    for (std::size_t t = 1; t < plan.treatments.size(); ++t) {
        const std::vector<Assigned>& on = plan.treatments[t].on;
        if (std::any_of(on.begin(), on.end(), [](const Assigned& one) { return base::is_control(one.role); })) continue;
        most = most.cwiseMax(centre.col(static_cast<Eigen::Index>(t)));
    }
    return most;
}

// [step]: true if it has the phase; none if more than half of the used steps have it.
std::optional<std::vector<bool>> with_phase(const StepTable& steps, const base::LongColumn<int>& block,
                                            const std::string& phase)
{
    const auto found = std::find(steps.phases.begin(), steps.phases.end(), phase);
    if (found == steps.phases.end()) return std::nullopt;
    const auto column = static_cast<Eigen::Index>(found - steps.phases.begin());
    std::vector<bool> has(block.size(), false);
    std::size_t used = 0;
    std::size_t used_with = 0;
    for (std::size_t i = 0; i < has.size(); ++i) {
        for (const RankSteps& rank : steps.ranks)
            if (rank.phase_ms(static_cast<Eigen::Index>(i), column) > 0.0) has[i] = true;
        if (block[i] < 0) continue;
        ++used;
        if (has[i]) ++used_with;
    }
    if (used_with < least_of_stratum || 2 * used_with > used) return std::nullopt;
    return has;
}

struct Period {
    std::int64_t length = 0;  // number of steps
    std::int64_t first = 0;   // remainder of the steps' numbers when divided by the length
};

// Finds the period that most of the given step numbers have.
class Periods {
 public:
    explicit Periods(const StepTable& steps, const base::LongColumn<int>& block)
    {
        for (std::size_t i = 0; i < block.size(); ++i)
            if (block[i] >= 0) looked_at_.push_back(steps.numbers[i]);
    }

    std::optional<Period> of(const std::set<std::int64_t>& numbers) const
    {
        if (numbers.size() < least_of_stratum) return std::nullopt;
        std::optional<Period> best;
        std::size_t most = 0;
        for (const std::int64_t length : candidates(numbers)) {
            std::map<std::int64_t, std::size_t> hits;
            for (const std::int64_t number : numbers) ++hits[number % length];
            for (const auto& [first, count] : hits) {
                // All residues occur about equally often, so most candidates need no exact count.
                const double expected = static_cast<double>(looked_at_.size()) / static_cast<double>(length);
                if (count < least_of_stratum || count < most || static_cast<double>(count) < expected / 2.0) continue;
                if (static_cast<double>(count) < least_long_of_period * static_cast<double>(steps_of({length, first})))
                    continue;
                if (count == most && best && best->length <= length) continue;
                best = Period{length, first};
                most = count;
            }
        }
        return best;
    }

 private:
    // Distances between long steps up to the third next, the most frequent first.
    static std::vector<std::int64_t> candidates(const std::set<std::int64_t>& numbers)
    {
        constexpr std::size_t most_candidates = 64;
        const std::vector<std::int64_t> all(numbers.begin(), numbers.end());
        std::map<std::int64_t, std::size_t> times;
        for (std::size_t lag = 1; lag <= 3; ++lag)
            for (std::size_t i = lag; i < all.size(); ++i) ++times[all[i] - all[i - lag]];
        std::vector<std::pair<std::size_t, std::int64_t>> by_times;
        for (const auto& [distance, count] : times)
            if (distance > 1) by_times.emplace_back(count, distance);
        std::sort(by_times.rbegin(), by_times.rend());
        std::vector<std::int64_t> frequent;
        for (const auto& [count, distance] : by_times) {
            if (frequent.size() == most_candidates) break;
            frequent.push_back(distance);
        }
        return frequent;
    }

    std::size_t steps_of(const Period& period) const
    {
        std::size_t count = 0;
        for (std::size_t i = 0; i < looked_at_.size(); ++i)
            if (looked_at_[i] % period.length == period.first) ++count;
        return count;
    }

    base::LongColumn<std::int64_t> looked_at_;  // numbers of the used steps
};

double median_length_ms(const Measures& step_ms, const LongSteps& steps, std::size_t stratum)
{
    base::LongColumn<double> lengths;
    for (std::size_t i = 0; i < steps.kind.size(); ++i)
        if (steps.kind[i] == static_cast<std::int8_t>(stratum)) lengths.push_back(step_ms.first(i));
    return base::median(lengths);
}

double median_slot_ms(const std::vector<Slot>& slots)
{
    base::LongColumn<double> lengths;
    for (const Slot& slot : slots) lengths.push_back(static_cast<double>(slot.end_ns - slot.begin_ns) / 1e6);
    return base::median(lengths);
}

}  // namespace

std::size_t LongSteps::count() const
{
    return std::accumulate(accidents.begin(), accidents.end(), std::size_t{0});
}

LongSteps find_long_steps(const StepTable& steps, const Measures& step_ms, const std::vector<std::vector<Slot>>& slots,
                          const Exposures& exposures, const Experiment& plan,
                          const std::function<double(std::size_t step)>& stopped_ms, const std::vector<double>& left)
{
    const base::LongColumn<int> block = used_blocks(exposures);
    LongSteps found;
    found.regular.resize(block.size(), 1.0);
    found.kind.resize(block.size(), LongSteps::ordinary);
    found.accidents.assign(plan.treatments.size(), 0);
    found.used.assign(plan.treatments.size(), 0);
    found.charged.assign(plan.treatments.size(), false);
    found.surely.assign(plan.treatments.size(), false);
    const Centres centres{medians_by_block(step_ms, exposures, block, plan), left, plan};
    const Eigen::MatrixXd& centre = centres.by_block();
    const Eigen::VectorXd slow = slowest(centre, plan);

    // The centre of a step is the mean over the slots that a step of its treatment's length would cover.
    const auto as_centre = [&](std::size_t step) {
        const auto treatment = static_cast<Eigen::Index>(treatment_of(exposures, plan, step));
        return exposures.block[step] < 0 ? 1.0 : centre(exposures.block[step], treatment) / step_ms.first(step);
    };
    const StepOverlaps shares = shared_among(exposures, steps.ranks.front(), slots.front(), plan, as_centre);
    const auto expected_ms = [&](std::size_t i) { return mixed_centre(shares[i], block[i], centres); };

    base::LongColumn<double> residuals;
    for (std::size_t i = 0; i < block.size(); ++i) {
        if (block[i] < 0) continue;
        const double expected = expected_ms(i);
        residuals.push_back((step_ms.first(i) - expected) / expected);
    }
    if (residuals.empty()) return found;
    const double middle = base::median(residuals);
    base::LongColumn<double> distances;
    for (const double residual : residuals) distances.push_back(std::abs(residual - middle));
    found.robust_deviation = mad_to_deviation * base::median(distances);

    const double limit = limit_deviations * std::max(found.robust_deviation, rounding);
    std::set<std::int64_t> long_numbers;
    std::vector<bool> is_long(block.size(), false);
    for (std::size_t i = 0; i < block.size(); ++i) {
        if (block[i] < 0) continue;
        const double centre_ms = longest_centre(shares[i], block[i], centres);
        const double longer_ms = step_ms.first(i) - centre_ms;
        const double most_ms = limit * std::max(centre_ms, slow[block[i]]);
        is_long[i] = longer_ms > most_ms && (!stopped_ms || longer_ms - 2.0 * stopped_ms(i) > most_ms);
    }

    const auto add_stratum = [&](StepStratum stratum, const auto& belongs) {
        const auto index = static_cast<std::int8_t>(found.strata.size());
        std::size_t used = 0;
        bool alone = true;
        std::vector<std::size_t> members;
        for (std::size_t i = 0; i < block.size(); ++i) {
            if (belongs(i)) members.push_back(i);
            if (block[i] < 0) continue;
            ++used;
            if (!belongs(i)) continue;
            alone = alone && found.kind[i] == LongSteps::ordinary;
            if (found.kind[i] != LongSteps::ordinary) continue;
            found.kind[i] = index;
            ++stratum.steps;
        }
        // The share counts from the stratum's first row to its last: how many of its steps happen to be used is chance.
        // Step numbers may jump (1000 x epoch + batch), so the period does not give the number of steps in between.
        stratum.share =
            stratum.period > 0 && alone && members.size() > 1
                ? static_cast<double>(members.size() - 1) / static_cast<double>(members.back() - members.front())
                : static_cast<double>(stratum.steps) / static_cast<double>(used);
        found.strata.push_back(std::move(stratum));
    };
    const std::string checkpoint = base::text(base::TrainingPhase::checkpoint);
    const Periods periods{steps, block};
    if (const auto has = with_phase(steps, block, checkpoint)) {
        std::set<std::int64_t> numbers;
        for (std::size_t i = 0; i < block.size(); ++i)
            if (block[i] >= 0 && (*has)[i]) numbers.insert(steps.numbers[i]);
        const Period period = periods.of(numbers).value_or(Period{});
        const bool all = period.length > 0 && std::all_of(numbers.begin(), numbers.end(), [&](std::int64_t number) {
                             return number % period.length == period.first;
                         });
        // If all checkpoints have one period, the step number decides membership; a checkpoint that is skipped under a
        // noise is then a short member.
        add_stratum({.name = checkpoint, .period = all ? period.length : 0, .first = period.first},
                    [&](std::size_t i) { return all ? steps.numbers[i] % period.length == period.first : (*has)[i]; });
    }
    while (found.strata.size() < most_strata) {
        long_numbers.clear();
        for (std::size_t i = 0; i < block.size(); ++i)
            if (is_long[i] && found.kind[i] == LongSteps::ordinary) long_numbers.insert(steps.numbers[i]);
        const std::optional<Period> period = periods.of(long_numbers);
        if (!period) break;
        add_stratum(
            {.name = base::join("every ", period->length, " steps"), .period = period->length, .first = period->first},
            [&](std::size_t i) { return steps.numbers[i] % period->length == period->first; });
    }

    for (std::size_t i = 0; i < block.size(); ++i) {
        if (block[i] < 0) continue;
        const std::size_t treatment = treatment_of(exposures, plan, i);
        ++found.used[treatment];
        if (found.kind[i] == LongSteps::ordinary) {
            if (!is_long[i]) continue;
            found.kind[i] = LongSteps::accident;
            ++found.accidents[treatment];
        }
        found.regular[i] = std::min(1.0, expected_ms(i) / step_ms.first(i));
    }
    constexpr double much_of_slot = 0.02;
    for (std::size_t s = 0; s < found.strata.size(); ++s) {
        const double slots_long = median_length_ms(step_ms, found, s) / median_slot_ms(slots.front());
        found.strata[s].spans_slots = slots_long > 1.0;
        found.strata[s].straddles = slots_long > much_of_slot;
    }
    for (std::size_t t = 0; t < plan.treatments.size(); ++t)
        if (static_cast<double>(found.accidents[t]) > most_accidents * static_cast<double>(found.used[t]))
            found.rare = false;
    return found;
}

}  // namespace analysis
