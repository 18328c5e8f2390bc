// SPDX-License-Identifier: Apache-2.0
#include "analysis/estimate/analyse.hpp"

#include "analysis/estimate/lasting.hpp"
#include "base/columns/long_order.hpp"
#include "base/error.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace analysis {

namespace {

// Makes intervals and p-values valid at every check; re-randomisation is valid only for a run of fixed length.
void hold_at_all_looks(EffectTable& effects, Looks looks)
{
    for (Effect& effect : effects) {
        effect.percent.looks = effect.at_worst.looks = effect.at_least.looks = looks;
        effect.p = effect.percent.p_value();
    }
}

std::vector<std::string> measure_names(const StepTable& steps)
{
    std::vector<std::string> names{"step"};
    names.insert(names.end(), steps.phases.begin(), steps.phases.end());
    return names;
}

// The longest time for which control.pause stopped any rank in that step.
double most_stopped_ms(const DesignedRun& run, std::size_t step)
{
    double most_ms = 0.0;
    for (std::size_t r = 0; r < run.stopped.size(); ++r) most_ms = std::max(most_ms, stopped_ms(run, r, step));
    return most_ms;
}

double covered_share(const DesignedRun& run, const Exposures& exposures)
{
    constexpr std::int64_t longest_start_ns = 10'000'000'000;
    double least = 1.0;
    for (std::size_t r = 0; r < run.steps.ranks.size(); ++r) {
        const RankSteps& rank = run.steps.ranks[r];
        const auto warm = std::find_if(exposures.left_out.begin(), exposures.left_out.end(),
                                       [](LeftOut reason) { return reason != LeftOut::warm_up; });
        if (warm == exposures.left_out.end()) return 0.0;
        const std::int64_t warm_ns = rank.begin_ns[static_cast<std::size_t>(warm - exposures.left_out.begin())];
        const std::int64_t begin_ns = std::min(run.slots[r].front().begin_ns, warm_ns + longest_start_ns);
        double time = 0.0;
        double covered = 0.0;
        for (std::size_t i = 0; i < rank.begin_ns.size(); ++i) {
            if (exposures.left_out[i] == LeftOut::warm_up || rank.end_ns[i] <= begin_ns) continue;
            const auto length = static_cast<double>(rank.end_ns[i] - rank.begin_ns[i]);
            time += length;
            for (const Overlap& overlap : exposures.ranks[r][i]) covered += overlap.share * length;
        }
        least = std::min(least, time > 0.0 ? covered / time : 0.0);
    }
    return least;
}

double seconds(std::int64_t ns)
{
    return static_cast<double>(ns) / 1e9;
}

std::int64_t longest_block_ns(const DesignedRun& run)
{
    std::vector<std::int64_t> length(static_cast<std::size_t>(run.plan.blocks), 0);
    for (std::size_t c = 0; c < run.plan.block_of.size(); ++c) {
        const Slot& slot = run.slots.front()[c];
        length[static_cast<std::size_t>(run.plan.block_of[c])] += slot.end_ns - slot.begin_ns;
    }
    return *std::max_element(length.begin(), length.end());
}

template <class... Parts>
[[noreturn]] void fail_short(const Parts&... parts)
{
    throw TooShort{base::join(parts...)};
}

// Throws Error: names what was too short, training or noise, and its least length.
[[noreturn]] void fail_for_blocks(const DesignedRun& run, int whole, std::int64_t warm_up_steps)
{
    const RankSteps& rank = run.steps.ranks.front();
    const std::vector<Slot>& slots = run.slots.front();
    const std::int64_t begin_ns = rank.begin_ns.front();
    const auto warm = static_cast<std::size_t>(
        std::clamp<std::int64_t>(warm_up_steps, 0, static_cast<std::int64_t>(rank.begin_ns.size()) - 1));
    // The block in which the warm-up ends is incomplete.
    const std::int64_t blocks = rank.begin_ns[warm] > slots.front().begin_ns ? 3 : 2;
    const std::int64_t block_ns = longest_block_ns(run);
    const double wait = std::max(0.0, seconds(slots.front().begin_ns - begin_ns));
    const double noise = seconds(slots.back().end_ns - slots.front().begin_ns);
    const double training = seconds(rank.end_ns.back() - begin_ns);
    const double needed = std::ceil(seconds(blocks * block_ns));
    if (training < wait + needed)
        fail_short("the training ended after ", run.steps.numbers.size(), " steps, ", std::lround(training),
                   " s; the schedule needs at least ", std::ceil(wait + needed),
                   " s for two blocks with every treatment");
    if (noise < needed)
        fail_short("noise ended after ", std::lround(noise), " s; its schedule needs at least ", needed,
                   " s for two blocks with every treatment");
    fail_short("of ", run.plan.blocks, run.plan.blocks == 1 ? " block " : " blocks ", whole,
               whole == 1 ? " holds" : " hold", " every treatment within the training, but an interval needs two");
}

// Throws Error if steps are as long as slots: each step is then a mixture of all treatments, without information on
// effects.
void check_slots(const DesignedRun& run, const Exposures& exposures)
{
    constexpr double least_steps = 2.0;  // number of steps in the median slot without noise
    std::vector<double> quiet;
    base::LongColumn<double> steps;
    const std::vector<Slot>& slots = run.slots.front();
    for (std::size_t s = 0; s < slots.size(); ++s)
        if (run.plan.treatment_of[s] == 0) quiet.push_back(seconds(slots[s].end_ns - slots[s].begin_ns));
    const RankSteps& rank = run.steps.ranks.front();
    for (std::size_t i = 0; i < rank.begin_ns.size(); ++i)
        if (exposures.left_out[i] == LeftOut::no) steps.push_back(seconds(rank.end_ns[i] - rank.begin_ns[i]));
    if (steps.empty() || quiet.empty()) return;
    const double step = base::median(steps);
    const double slot = base::median(quiet);
    if (slot < least_steps * step)
        base::fail("a step takes ", std::lround(1000.0 * step), " ms and a slot ", std::lround(1000.0 * slot),
                   " ms: a slot must hold two steps, better ten; use longer slots (slot=", std::ceil(10.0 * step),
                   "s in the schedule)");
}

// Adds the effects on the step with all accidents and with no accidents.
void add_both_ways(const Series& series, const StepsOf& steps, const Fit& fit, Analysis& result)
{
    for (const Effect& estimate : effects(series, steps, fit, {.count = 0})) {
        if (estimate.phase != "step") continue;
        for (const Contrast& contrast : contrasts(steps.plan)) {
            if (contrast.factor != estimate.factor || contrast.level != estimate.level ||
                contrast.kind != estimate.kind)
                continue;
            for (const bool with : {true, false}) {
                Effect& effect = result.effects.emplace_back(estimate);
                effect.family = Family::measure;
                effect.phase = with ? step_with_outliers : step_without_outliers;
                effect.percent = percent_of_quiet(fit, combination(fit, contrast.weights, steps.lasting), 0, with);
                effect.p = effect.percent.p_value();
            }
        }
    }
}

// Adds effects on the parts of a rank's step and on its own work by region. They have intervals but no p-values.
void add_work_effects(const DesignedRun& run, std::size_t rank, const StepsOf& steps, Analysis& result)
{
    const RankWork& work = run.work.ranks[rank];
    std::vector<std::string> names{"step"};
    names.insert(names.end(), part_names.begin(), part_names.end());
    names.insert(names.end(), run.work.regions.begin(), run.work.regions.end());
    const Series series = rank_series(
        run, result, rank,
        with_columns(with_columns(measures_of(run.steps.ranks[rank]).only(1), work.parts_ms), work.own_ms), names);
    std::size_t next = 0;
    for (Effect& effect : effects(series, steps, fit(series, steps), {.count = 0})) {
        const std::size_t at = next++ % series.names.size();
        if (at == 0) continue;
        effect.family = at <= part_count ? Family::part : Family::own_work;
        result.effects.push_back(std::move(effect));
    }
}

// Adds effects on other measures of the job's steps, such as the extra measures. Holm's correction does not count them.
void add_effects_beside(Family family, const std::vector<std::string>& columns, const LongTable& ms,
                        const DesignedRun& run, const Measures& job, const StepsOf& steps, const Draws& draws,
                        Analysis& result)
{
    if (columns.empty()) return;
    std::vector<std::string> names{"step"};
    names.insert(names.end(), columns.begin(), columns.end());
    const Series series = job_series(run, result, with_columns(job.only(1), ms), names);
    for (Effect& effect : effects(series, steps, fit(series, steps), draws)) {
        if (effect.phase == "step") continue;
        effect.family = family;
        result.effects.push_back(std::move(effect));
    }
}

void add_effects(const DesignedRun& run, const Series& job, const Fit& job_fit, const StepsOf& steps,
                 const Rules& rules, Analysis& result)
{
    for (Effect& effect : effects(job, steps, job_fit, rules.draws)) {
        const bool extra =
            std::find(run.extra_names.begin(), run.extra_names.end(), effect.phase) != run.extra_names.end();
        if (extra) effect.family = Family::measure;
        result.effects.push_back(std::move(effect));
    }
    for (std::size_t r = 0; rules.by_rank && r < run.steps.ranks.size(); ++r) {
        const Series own = rank_series(run, result, r, measures_of(run.steps.ranks[r]), measure_names(run.steps));
        for (Effect& effect : effects(own, steps, fit(own, steps), rules.draws))
            result.effects.push_back(std::move(effect));
        if (run.work.known()) add_work_effects(run, r, steps, result);
    }
}

std::vector<Assigned> lasting_noises(const std::vector<CarryOver>& all, bool surely)
{
    std::vector<Assigned> lasting;
    for (const CarryOver& one : all)
        if (surely ? one.surely : one.counted) lasting.push_back({one.factor, one.level, one.stressor, one.role});
    return lasting;
}

std::vector<int> windows_of(const std::vector<CarryOver>& all)
{
    std::vector<int> windows;
    for (const CarryOver& one : all) windows.push_back(one.slots);
    return windows;
}

// [slot]: carry-over into the slot, as a share of a step, beyond the mean over the slots of its treatment; empty
// without any carry-over.
std::vector<double> left_in_slots(const Experiment& plan, const std::vector<CarryOver>& all)
{
    if (std::none_of(all.begin(), all.end(), [](const CarryOver& one) { return one.counted; })) return {};
    Eigen::VectorXd shares(static_cast<Eigen::Index>(all.size()));
    for (std::size_t n = 0; n < all.size(); ++n)
        shares[static_cast<Eigen::Index>(n)] = all[n].counted ? all[n].percent.value / 100.0 : 0.0;
    const Eigen::VectorXd left = noise_before(plan, noises_of(plan), windows_of(all)) * shares;
    std::vector<double> sum(plan.treatments.size(), 0.0);
    std::vector<double> slots(plan.treatments.size(), 0.0);
    for (std::size_t s = 0; s < plan.treatment_of.size(); ++s) {
        sum[plan.treatment_of[s]] += left[static_cast<Eigen::Index>(s)];
        slots[plan.treatment_of[s]] += 1.0;
    }
    std::vector<double> beyond_mean(left.begin(), left.end());
    for (std::size_t s = 0; s < beyond_mean.size(); ++s)
        beyond_mean[s] -= sum[plan.treatment_of[s]] / slots[plan.treatment_of[s]];
    return beyond_mean;
}

// Adds to the effect at worst the time that a noise may add to later long steps.
void add_debts(Analysis& result)
{
    for (Effect& effect : result.effects) {
        if (effect.family != Family::step || effect.phase != "step" || effect.rank != all_ranks ||
            effect.kind == Kind::interaction)
            continue;
        for (const CarryOver& left : result.carry_over) {
            if (left.factor != effect.factor || left.level != effect.level) continue;
            effect.at_worst.value += std::max(0.0, left.debt.percent.value) + left.debt.most_percent;
            effect.at_worst.standard_error =
                std::hypot(effect.at_worst.standard_error, left.debt.percent.standard_error);
        }
    }
}

void find_and_charge(const DesignedRun& run, const Measures& job_ms, const std::vector<double>& left,
                     const Rules& rules, Analysis& result)
{
    result.long_steps = find_long_steps(
        run.steps, job_ms, run.slots, result.exposures, run.plan,
        [&](std::size_t step) { return most_stopped_ms(run, step); }, left);
    const base::LongColumn<int> used = used_blocks(result.exposures);
    result.accident_rates =
        charge_accidents(job_ms, result.exposures, run.plan, used, result.long_steps, rules.draws.seed);
    settle_shares(result.exposures, run.plan, used, result.long_steps, rules.draws.seed);
}

std::function<double(std::size_t)> regular_share(const Analysis& analysis)
{
    return [&regular = analysis.long_steps.regular](std::size_t step) { return regular[step]; };
}

}  // namespace

StepsOf steps_of(const DesignedRun& run, const Analysis& analysis)
{
    return {run.plan,
            analysis.exposures,
            analysis.long_steps,
            used_blocks(analysis.exposures),
            lasting_noises(analysis.carry_over, false),
            lasting_noises(analysis.carry_over, true),
            windows_of(analysis.carry_over)};
}

Series job_series(const DesignedRun& run, const Analysis& analysis, const Measures& measures,
                  std::vector<std::string> names)
{
    std::vector<StepOverlaps> ranks;
    for (std::size_t r = 0; r < run.steps.ranks.size(); ++r)
        ranks.push_back(
            shared_among(analysis.exposures, run.steps.ranks[r], run.slots[r], run.plan, regular_share(analysis)));
    return {all_ranks, mean_over(std::move(ranks)), measures, std::move(names)};
}

Series rank_series(const DesignedRun& run, const Analysis& analysis, std::size_t rank, const Measures& measures,
                   std::vector<std::string> names)
{
    const RankSteps& steps = run.steps.ranks[rank];
    return {steps.rank, shared_among(analysis.exposures, steps, run.slots[rank], run.plan, regular_share(analysis)),
            measures, std::move(names)};
}

Analysis analyse(const DesignedRun& run, const Rules& rules)
{
    Analysis result;
    result.exposures = expose(run.steps, run.slots, run.plan, rules.exposure);
    result.covered_share = covered_share(run, result.exposures);
    result.blocks = result.exposures.blocks;
    result.dropped_blocks = run.plan.blocks - result.blocks;
    const std::vector<Slot>& slots = run.slots.front();
    result.blocks_s =
        1e-9 * static_cast<double>(slots.back().end_ns - slots.front().begin_ns) * result.blocks / run.plan.blocks;
    const std::vector<LeftOut>& left_out = result.exposures.left_out;
    const auto is_out = [](LeftOut reason) { return reason == LeftOut::warm_up || reason == LeftOut::not_covered; };
    if (std::all_of(left_out.begin(), left_out.end(), is_out))
        fail_short("no step of the training after its warm-up (", rules.exposure.warm_up_steps,
                   " steps) was covered by the noise");
    if (result.blocks < 2) fail_for_blocks(run, result.blocks, rules.exposure.warm_up_steps);
    check_slots(run, result.exposures);

    const Measures job_ms = measures_of(run.steps);
    std::vector<std::string> names = measure_names(run.steps);
    Measures measures = job_ms;
    if (!run.extra_names.empty()) {
        names.insert(names.end(), run.extra_names.begin(), run.extra_names.end());
        measures = with_columns(job_ms, run.extra_ms);
    }
    Series job;
    Fit job_fit;
    const auto estimate_with = [&](const std::vector<double>& left) {
        result.carry_over.clear();
        find_and_charge(run, job_ms, left, rules, result);
        job = job_series(run, result, measures, names);
        job_fit = fit(job, steps_of(run, result));
        result.carry_over = carry_over(job, steps_of(run, result), job_fit, rules.draws, rules.looks);
    };
    estimate_with({});
    // Estimates again if there is carry-over, because it changes which steps are long.
    if (const std::vector<double> left = left_in_slots(run.plan, result.carry_over); !left.empty()) estimate_with(left);
    const StepsOf steps = steps_of(run, result);
    const std::vector<Debt> owed = debts(job_ms, result.exposures, run.plan, result.long_steps, noises_of(run.plan),
                                         quiet_step_ms(job_fit, false));
    for (std::size_t n = 0; n < result.carry_over.size(); ++n) result.carry_over[n].debt = owed[n];
    if (job_fit.lasting) job_fit.lasting = lasting_of(job_fit, job, steps, steps.windows);
    result.quiet_step_ms = quiet_step_ms(job_fit, false);
    result.shared_state = shared_state(job, steps, job_fit, result.carry_over, rules.draws.seed);

    add_effects(run, job, job_fit, steps, rules, result);
    if (run.gpu.known())
        add_effects_beside(Family::gpu, run.gpu.names, run.gpu.ms, run, job_ms, steps, rules.draws, result);
    add_effects_beside(Family::evidence, run.evidence.names, run.evidence.ms, run, job_ms, steps, rules.draws, result);
    for (Effect& effect : median_effects(job, steps)) result.effects.push_back(std::move(effect));
    add_both_ways(job, steps, job_fit, result);
    add_debts(result);
    if (rules.looks != Looks::none) hold_at_all_looks(result.effects, rules.looks);
    adjust(result.effects);

    for (std::size_t i = 0; i < left_out.size(); ++i)
        ++result
              .counts[left_out[i] == LeftOut::no && is_set_aside(result, run.plan, i) ? LeftOut::outlier : left_out[i]];
    return result;
}

bool is_set_aside(const Analysis& analysis, const Experiment& plan, std::size_t step)
{
    return analysis.long_steps.kind[step] == LongSteps::accident &&
           !analysis.long_steps.charged[treatment_of(analysis.exposures, plan, step)];
}

}  // namespace analysis
