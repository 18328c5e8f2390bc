// Effects: what each factor costs the step, each phase and each rank, with intervals over blocks.
#pragma once

#include "analysis/estimate/contrasts.hpp"
#include "analysis/estimate/estimator.hpp"
#include "analysis/estimate/exposure.hpp"
#include "analysis/estimate/inference.hpp"
#include "analysis/estimate/outliers.hpp"
#include "analysis/estimate/rerandomise.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace analysis {

constexpr int all_ranks = -1;

struct Effect {
    std::string factor;
    std::string level;
    std::string stressor;  // empty for an interaction
    base::Role role = base::Role::treatment;
    std::string phase;  // a phase, "step", or another measure's name
    int rank = all_ranks;
    Kind kind = Kind::alone;
    Mean percent;            // of the rank's quiet mean step
    double p = 1.0;          // re-randomisation, or t test where the order was not random or labels cannot be exchanged
    double p_holm = 1.0;     // over factors x phases of the same rank
    Smallest smallest_p{};   // that the test could have given
    std::int64_t steps = 0;  // used, and mostly under a treatment with the factor
};

// One rank's times, or the job's.
struct Series {
    int rank = all_ranks;
    const StepOverlaps* overlaps = nullptr;
    Measures measures;  // of each step, by names
    std::vector<std::string> names;
};

// A difference of means as percent of the quiet mean. Both share the blocks' drift, so the spread is that of
// difference - ratio x quiet, not of the difference by itself (the usual standard error of a ratio).
Mean percent_of(const Pooled& difference, const Pooled& quiet);
// [block]: what the block moves it by, times the number of blocks.
Eigen::VectorXd percent_influence(const Pooled& difference, const Pooled& quiet);

// names[0] is the step; block[i] < 0: step i is not used. Measures are linear in the steps' times with the same work
// shares: where phases add up to the step, so do their effects. Throws Error with fewer than two complete blocks.
std::vector<Effect> effects(const Series& series, const base::LongColumn<int>& block, const Fit& fit,
                            const Experiment& plan, const Draws& draws);

// How much slower the median step is: medians of wholly covered steps per block, otherwise as effects(). The phase is
// "median step".
std::vector<Effect> median_effects(const Series& series, const base::LongColumn<int>& block, const Experiment& plan);

// Sets p_holm: over all effects of each rank.
void adjust(std::vector<Effect>& effects);

// The effect on `phase`, or nullptr.
const Effect* find(const std::vector<Effect>& effects, const std::string& factor, const std::string& level, Kind kind,
                   const std::string& phase, int rank = all_ranks);

// A factor that was combined with others is judged by its average over their settings, which rests on all slots.
Kind judged_kind(const std::vector<Effect>& effects, const Effect& effect);

}  // namespace analysis
