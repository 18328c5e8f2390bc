// SPDX-License-Identifier: Apache-2.0
// Effects: what each factor costs the step, each phase and each rank, with intervals over blocks.
#pragma once

#include "analysis/estimate/assigned/exposure.hpp"
#include "analysis/estimate/contrasts.hpp"
#include "analysis/estimate/estimator.hpp"
#include "analysis/estimate/inference.hpp"
#include "analysis/estimate/rerandomise.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace analysis {

constexpr int all_ranks = -1;

// The kind of quantity that an effect is on. Each family is corrected for multiple testing, pooled and shown
// separately.
enum class Family {
    step,      // the step and its phases, of the job and of each rank
    measure,   // of the job: the split of the step by its buckets, the median step, outliers, tails
    part,      // of each rank's step: `phase` is one of part_names
    own_work,  // of each rank: `phase` is one of Work::regions
    gpu,       // of the job: `phase` is one of GpuWork::names
    evidence,  // of the job: `phase` is one of Evidence::names
};

struct Effect {
    Family family = Family::step;
    std::string factor;
    std::string level;
    std::string stressor;  // empty for an interaction
    base::Role role = base::Role::treatment;
    std::string phase;  // a phase, "step", or another measure's name
    int rank = all_ranks;
    Kind kind = Kind::alone;
    Mean percent;  // in percent of the rank's mean quiet step
    // Effect on the job's step including accidents and carry-over, whether or not `percent` includes them. A noise is
    // safe only if this interval allows it. Equals `percent` for other measures.
    Mean at_worst;
    // Effect on the job's step without any assumption or omission: with all accidents, and with recurring long steps as
    // frequent under the noise as observed. Equals `percent` for other measures.
    Mean whole;
    // If carry-over counts: the larger of the direct effect and the carry-over into one slot. A state such as cold
    // caches costs only once, so the sum of the two, the cost of a noise that is on all the time, may be too high.
    // Otherwise equals `percent`. A noise is unsafe only if this and `whole` exceed the budget, too.
    Mean at_least;
    bool lacks_a_stratum = false;  // no step of some stratum began under the noise, so its effect on these is unknown
    double p = 1.0;          // by re-randomisation; by t test if the order was not random or labels cannot be exchanged
    double p_holm = 1.0;     // over the factors and phases of the same rank
    Smallest smallest_p{};   // smallest p that the test can give
    std::int64_t steps = 0;  // number of used steps mostly under a treatment with the factor
};

// True if accidents count in a contrast with these weights: if they are charged to any of its treatments.
bool accidents_count(const Eigen::VectorXd& weights, const LongSteps& steps);

// The estimate in all tables, in percent of the mean quiet step. It includes accidents that are charged to its
// treatments and the carry-over of its noises. If one of these is not beyond doubt, it is left out of the estimate, and
// the interval also spans the estimate with it.
Mean estimated_percent(const Fit& fit, const Eigen::VectorXd& weights, Eigen::Index measure, const StepsOf& steps);
// The largest effect over all assumptions: always with accidents; with or without carry-over; with long steps shared
// among the treatments under which they ran, or not; with long steps as frequent as observed, if that is more than
// elsewhere.
Mean percent_at_worst(const Fit& fit, const Eigen::VectorXd& weights);
// The effect with all accidents, and with long steps as frequent under each noise as observed.
Mean whole_percent(const Fit& fit, const Eigen::VectorXd& weights, const StepsOf& steps);

// All effects of a run; those of the job come first.
using EffectTable = std::vector<Effect>;

std::vector<std::reference_wrapper<const Effect>> of(const EffectTable& effects, Family family);

// names[0] is the step. Measures are linear in the steps' times with the same work shares, so effects on phases that
// add up to the step add up to its effect. Throws Error with fewer than two blocks.
EffectTable effects(const Series& series, const StepsOf& steps, const Fit& fit, const Draws& draws);

// The slowdown of the median step: medians of wholly covered steps per block, else as effects(). The phase is "median
// step", the family Family::measure.
EffectTable median_effects(const Series& series, const StepsOf& steps);

// Sets p_holm of Family::step: Holm's correction over all effects of each rank.
void adjust(EffectTable& effects);

// The effect on `phase`, or nullptr.
const Effect* find(const EffectTable& effects, const std::string& factor, const std::string& level, Kind kind,
                   const std::string& phase, int rank = all_ranks, Family family = Family::step);

// The kind of effect by which a factor is judged: in a factorial its average over the other factors' settings, which
// uses all slots.
Kind judged_kind(const EffectTable& effects, const Effect& effect);

}  // namespace analysis
