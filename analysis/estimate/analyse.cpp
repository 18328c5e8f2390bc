#include "analysis/estimate/analyse.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace analysis {

namespace {

// That a noise has more outliers than quiet. At 95 % accidents that fall so by chance would bias effects by 0.05
// points.
constexpr double confidence_of_outliers = 0.99;

// Re-randomisation gives p-values of a run whose length was fixed.
void hold_at_all_looks(std::vector<Effect>& effects)
{
    for (Effect& effect : effects) {
        effect.percent.looked_at = true;
        effect.p = effect.percent.p_value();
    }
}

std::vector<std::string> measure_names(const StepTable& steps)
{
    std::vector<std::string> names{"step"};
    names.insert(names.end(), steps.phases.begin(), steps.phases.end());
    return names;
}

// For how long control.pause stopped the rank that it stopped longest in that step.
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

// Says which of training and noise was too short, and how long it has to be at least.
[[noreturn]] void fail_for_blocks(const DesignedRun& run, std::size_t complete, std::int64_t warm_up_steps)
{
    const RankSteps& rank = run.steps.ranks.front();
    const std::vector<Slot>& slots = run.slots.front();
    const std::int64_t begin_ns = rank.begin_ns.front();
    const auto warm = static_cast<std::size_t>(
        std::clamp<std::int64_t>(warm_up_steps, 0, static_cast<std::int64_t>(rank.begin_ns.size()) - 1));
    // The block in which the warm-up ends does not count.
    const std::int64_t blocks = rank.begin_ns[warm] > slots.front().begin_ns ? 3 : 2;
    const std::int64_t block_ns = longest_block_ns(run);
    const double wait = std::max(0.0, seconds(slots.front().begin_ns - begin_ns));
    const double noise = seconds(slots.back().end_ns - slots.front().begin_ns);
    const double training = seconds(rank.end_ns.back() - begin_ns);
    const double needed = std::ceil(seconds(blocks * block_ns));
    if (training < wait + needed)
        base::fail("the training ended after ", run.steps.numbers.size(), " steps, ", std::lround(training),
                   " s; the schedule needs at least ", std::ceil(wait + needed),
                   " s for two blocks that hold every treatment");
    if (noise < needed)
        base::fail("noise ended after ", std::lround(noise), " s; its schedule needs at least ", needed,
                   " s for two blocks that hold every treatment");
    base::fail("of ", run.plan.blocks, run.plan.blocks == 1 ? " block " : " blocks ", complete,
               complete == 1 ? " holds" : " hold",
               " steps under every treatment, and an interval needs two: take longer slots");
}

// The rate of outliers by treatment is their indicator's least-squares mean; a factor's excess over quiet is tested as
// effects are.
std::vector<OutlierRate> outlier_rates(const DesignedRun& run, const Measures& step_ms, const Draws& draws,
                                       const Analysis& result)
{
    const Exposures& exposures = result.exposures;
    const Outliers& outliers = result.outliers;
    const base::LongColumn<int> block = used_blocks(exposures, true);
    std::vector<double> slow_ms(run.plan.treatments.size(), 0.0);
    std::vector<double> all_ms(run.plan.treatments.size(), 0.0);
    for (std::size_t i = 0; i < block.size(); ++i) {
        if (block[i] < 0) continue;
        const std::size_t treatment = main_treatment(exposures.job[i], run.plan);
        all_ms[treatment] += step_ms.first(i);
        if (outliers.slow[i]) slow_ms[treatment] += step_ms.first(i);
    }
    const Measures indicated{block.size(), 2, [&](std::size_t step, std::span<double> values) {
                                 values[0] = step_ms.first(step);
                                 if (values.size() > 1) values[1] = outliers.slow[step] ? 100.0 : 0.0;
                             }};
    const auto rate = [&](std::size_t t, std::string factor, std::string level, double p) {
        const double steps = static_cast<double>(std::max<std::size_t>(1, outliers.used[t]));
        return OutlierRate{std::move(factor), std::move(level), 100.0 * static_cast<double>(outliers.of[t]) / steps,
                           all_ms[t] > 0.0 ? 100.0 * slow_ms[t] / all_ms[t] : 0.0, p};
    };
    std::vector<OutlierRate> rates{rate(0, "quiet", "", 1.0)};
    const Fit fitted = fit(exposures.job, block, indicated, run.plan);
    if (fitted.blocks.size() < 2) return rates;
    const Series series{all_ranks, &exposures.job, indicated, {"step", "outliers"}};
    for (const Effect& effect : effects(series, block, fitted, run.plan, draws)) {
        if (effect.phase != "outliers" || effect.kind != Kind::alone) continue;
        const Treatment treatment{{{effect.factor, effect.level, effect.stressor, effect.role}}};
        const auto found = std::find(run.plan.treatments.begin(), run.plan.treatments.end(), treatment);
        rates.push_back(
            rate(static_cast<std::size_t>(found - run.plan.treatments.begin()), effect.factor, effect.level, effect.p));
        rates.back().more_than_quiet =
            effect.role == base::Role::treatment && effect.percent.interval(confidence_of_outliers).low > 0.0;
    }
    return rates;
}

// What the step costs by all of its steps, and by all but outliers. The estimate is one of both, by a cut that a single
// step can cross.
void add_both_ways(const DesignedRun& run, const Measures& job, Analysis& result)
{
    const Outliers& outliers = result.outliers;
    std::vector<Effect> estimate;
    for (const Effect& effect : result.effects)
        if (effect.phase == "step" && effect.rank == all_ranks) estimate.push_back(effect);
    std::vector<Effect> other = estimate;
    if (outliers.count() > 0) {
        base::LongColumn<int> block = used_blocks(result.exposures, true);
        for (std::size_t i = 0; i < block.size(); ++i)
            if (outliers.slow[i] && !outliers.set_aside) block[i] = -1;
        const Series series{all_ranks, &result.exposures.job, job.only(1), {"step"}};
        const Fit fitted = fit(result.exposures.job, block, series.measures, run.plan);
        if (fitted.blocks.size() < 2) return;
        other = effects(series, block, fitted, run.plan, {.count = 0});
    }
    for (auto [way, with] : {std::pair{&estimate, !outliers.set_aside}, {&other, outliers.set_aside}})
        for (Effect& effect : *way) {
            effect.phase = with ? step_with_outliers : step_without_outliers;
            result.extra_effects.push_back(std::move(effect));
        }
}

// Of a rank's step its parts and its own work, region by region. They get no p-values: an interval says if they are
// there.
void add_work_effects(const DesignedRun& run, std::size_t rank, const base::LongColumn<int>& block, Analysis& result)
{
    const RankWork& work = run.work.ranks[rank];
    const RankSteps& steps = run.steps.ranks[rank];
    Series series{steps.rank, &result.exposures.ranks[rank], {}, {"step"}};
    series.measures = with_columns(with_columns(measures_of(steps).only(1), work.parts_ms), work.own_ms);
    series.names.insert(series.names.end(), part_names.begin(), part_names.end());
    series.names.insert(series.names.end(), run.work.regions.begin(), run.work.regions.end());
    const Fit fitted = fit(*series.overlaps, block, series.measures, run.plan);
    std::size_t next = 0;
    for (Effect& effect : effects(series, block, fitted, run.plan, {.count = 0})) {
        const std::size_t at = next++ % series.names.size();
        if (at == 0) continue;
        (at <= part_count ? result.part_effects : result.own_effects).push_back(std::move(effect));
    }
}

// Of what GPUs did, as of the extra measures; they do not add to what Holm's correction is over.
void add_gpu_effects(const DesignedRun& run, const Measures& job, const base::LongColumn<int>& block,
                     const Draws& draws, Analysis& result)
{
    if (!run.gpu.known()) return;
    Series series{all_ranks, &result.exposures.job, with_columns(job.only(1), run.gpu.ms), {"step"}};
    series.names.insert(series.names.end(), run.gpu.names.begin(), run.gpu.names.end());
    const Fit fitted = fit(result.exposures.job, block, series.measures, run.plan);
    for (Effect& effect : effects(series, block, fitted, run.plan, draws))
        if (effect.phase != "step") result.gpu_effects.push_back(std::move(effect));
}

// All effects from the steps that have a block.
Fit estimate(const DesignedRun& run, const Measures& job, const base::LongColumn<int>& block, const Rules& rules,
             Analysis& result)
{
    Series series{all_ranks, &result.exposures.job, job, measure_names(run.steps)};
    if (!run.extra_names.empty()) {
        series.names.insert(series.names.end(), run.extra_names.begin(), run.extra_names.end());
        series.measures = with_columns(job, run.extra_ms);
    }
    Fit job_fit = fit(result.exposures.job, block, series.measures, run.plan);
    if (job_fit.blocks.size() < 2) fail_for_blocks(run, job_fit.blocks.size(), rules.exposure.warm_up_steps);
    for (Effect& effect : effects(series, block, job_fit, run.plan, rules.draws)) {
        const bool extra =
            std::find(run.extra_names.begin(), run.extra_names.end(), effect.phase) != run.extra_names.end();
        (extra ? result.extra_effects : result.effects).push_back(std::move(effect));
    }
    add_gpu_effects(run, job, block, rules.draws, result);
    for (std::size_t r = 0; rules.by_rank && r < run.steps.ranks.size(); ++r) {
        const RankSteps& rank = run.steps.ranks[r];
        const Series own{rank.rank, &result.exposures.ranks[r], measures_of(rank), measure_names(run.steps)};
        const Fit own_fit = fit(result.exposures.ranks[r], block, own.measures, run.plan);
        for (Effect& effect : effects(own, block, own_fit, run.plan, rules.draws))
            result.effects.push_back(std::move(effect));
        if (run.work.known()) add_work_effects(run, r, block, result);
    }
    return job_fit;
}

// Do the noise's outliers cost more than the estimate without them allows?
bool costs_more_with_outliers(const std::vector<Effect>& both_ways, const OutlierRate& rate)
{
    const Effect* with = find(both_ways, rate.factor, rate.level, Kind::alone, step_with_outliers);
    const Effect* without = find(both_ways, rate.factor, rate.level, Kind::alone, step_without_outliers);
    return with != nullptr && without != nullptr && with->percent.value > without->percent.interval(0.95).high;
}

bool is_of(const Effect& effect, const OutlierRate& rate)
{
    if (effect.kind != Kind::interaction) return effect.factor == rate.factor && effect.level == rate.level;
    return effect.factor.starts_with(rate.factor + "*") || effect.factor.ends_with("*" + rate.factor);
}

// Where a noise has more outliers than quiet, they are its effect, and no accident: what it costs is estimated with all
// outliers. Of controls nothing is estimated so: a placebo's are accidents.
void count_outliers_of_noise(const DesignedRun& run, const Measures& job, const Rules& rules, Analysis& result)
{
    if (!result.outliers.set_aside) return;
    std::vector<OutlierRate> counted;
    for (OutlierRate& rate : result.outlier_rates) {
        rate.counted = rate.more_than_quiet && costs_more_with_outliers(result.extra_effects, rate);
        if (rate.counted) counted.push_back(rate);
    }
    if (counted.empty()) return;
    Analysis with;
    with.exposures = result.exposures;
    estimate(run, job, used_blocks(result.exposures, true), rules, with);
    const auto take = [&](std::vector<Effect>& effects, std::vector<Effect>& of_all_steps) {
        for (std::size_t i = 0; i < of_all_steps.size(); ++i)
            if (std::any_of(counted.begin(), counted.end(),
                            [&](const OutlierRate& rate) { return is_of(effects[i], rate); }))
                effects[i] = std::move(of_all_steps[i]);
    };
    take(result.effects, with.effects);
    take(result.part_effects, with.part_effects);
    take(result.own_effects, with.own_effects);
    take(result.extra_effects, with.extra_effects);
    take(result.gpu_effects, with.gpu_effects);
}

}  // namespace

Analysis analyse(const DesignedRun& run, const Rules& rules)
{
    Analysis result;
    result.exposures = expose(run.steps, run.slots, run.plan, rules.exposure);
    result.covered_share = covered_share(run, result.exposures);

    const Measures job = measures_of(run.steps);
    base::LongColumn<int> block = used_blocks(result.exposures);
    if (std::all_of(block.begin(), block.end(), [](int b) { return b < 0; }))
        base::fail("no step of the training after its warm-up (", rules.exposure.warm_up_steps,
                   " steps) was covered by the noise");
    result.outliers = find_outliers(job, result.exposures.job, block, run.plan,
                                    [&](std::size_t step) { return most_stopped_ms(run, step); });
    if (result.outliers.set_aside)
        for (std::size_t i = 0; i < block.size(); ++i)
            if (result.outliers.slow[i]) result.exposures.left_out[i] = LeftOut::outlier;
    block = used_blocks(result.exposures);

    const Fit job_fit = estimate(run, job, block, rules, result);
    for (Effect& effect :
         median_effects({all_ranks, &result.exposures.job, job, measure_names(run.steps)}, block, run.plan))
        result.extra_effects.push_back(std::move(effect));
    add_both_ways(run, job, result);
    result.blocks = static_cast<int>(job_fit.blocks.size());
    result.dropped_blocks = job_fit.dropped;
    result.quiet_step_ms = job_fit.quiet_step_ms();
    result.outlier_rates = outlier_rates(run, job, rules.draws, result);
    count_outliers_of_noise(run, job, rules, result);
    if (rules.looked) {
        hold_at_all_looks(result.effects);
        hold_at_all_looks(result.part_effects);
        hold_at_all_looks(result.own_effects);
        hold_at_all_looks(result.extra_effects);
        hold_at_all_looks(result.gpu_effects);
    }
    adjust(result.effects);

    std::vector<bool> complete(static_cast<std::size_t>(run.plan.blocks), false);
    for (const BlockMeans& kept : job_fit.blocks) complete[static_cast<std::size_t>(kept.block)] = true;
    for (std::size_t i = 0; i < block.size(); ++i)
        if (block[i] >= 0 && !complete[static_cast<std::size_t>(block[i])])
            result.exposures.left_out[i] = LeftOut::block_incomplete;
    for (const LeftOut reason : result.exposures.left_out) ++result.counts[reason];
    return result;
}

}  // namespace analysis
