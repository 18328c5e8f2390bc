// Outliers: steps that some accident made much slower than others under the same treatment.
#pragma once

#include "analysis/estimate/exposure.hpp"

#include <Eigen/Dense>

#include <functional>
#include <span>
#include <vector>

namespace analysis {

struct Outliers {
    std::vector<bool> slow;         // [step]: beyond the limit (never true for steps that are not used)
    bool set_aside = true;          // false: too many of one treatment for an accident, so none is set aside
    double robust_deviation = 0.0;  // 1.4826 x MAD of the relative residuals
    std::vector<std::size_t> of;    // [treatment]: slow steps that were mostly under it
    std::vector<std::size_t> used;  // [treatment]: steps that were mostly under it

    std::size_t count() const;
};

// The treatment with the largest share of a step's time; quiet for a step without shares.
std::size_t main_treatment(const Overlaps& overlaps, const Experiment& plan);

// A step is slow if it exceeds its centre by more than 5 robust standard deviations of what is slowest: as many ms for
// every noise, for an accident of 20 ms is a smaller share of a step that is slow anyway, and would be counted with the
// noise that slows it. The centre is the median of steps
// wholly under the same treatment in the block and its two neighbours on each side; for a straddling step the centres
// of its treatments, mixed as the work of a step is (harmonic mean weighted by time). More than 5 % slow steps under
// any treatment are an effect, not an accident: then none is set aside. A running median over all steps would delete
// strong effects. What control.pause stopped is no accident: of a step that it hit only what is beyond twice the
// stopped time counts. Why: docs/statistics.md, rule 2. step_ms: its first is the step; block[i] < 0: step i is not
// used; stopped_ms: of a step, the longest of any rank; null: nothing was stopped.
Outliers find_outliers(const Measures& step_ms, const StepOverlaps& overlaps, const base::LongColumn<int>& block,
                       const Experiment& plan, const std::function<double(std::size_t step)>& stopped_ms = {});

}  // namespace analysis
