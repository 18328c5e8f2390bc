// SPDX-License-Identifier: Apache-2.0
// Least squares over slots, for what noises leave behind for later slots.
#pragma once

#include "analysis/estimate/fit.hpp"
#include "analysis/estimate/rerandomise.hpp"

#include <Eigen/Dense>

#include <optional>
#include <vector>

namespace analysis {

// [slot]: the work of its steps, and their mean time.
struct SlotMeans {
    Eigen::VectorXd work;
    Eigen::VectorXd mean_ms;
};

enum class Of { ordinary_steps, all_steps };

// Means by slot; the excess of a long step counts in the slot in which the step begins.
SlotMeans means_by_slot(const Series& series, const StepsOf& steps, const Fit& fit, Of which);

// Least squares weighted by the slots' work, with a mean for each block and each treatment, and a column for each noise
// in the slots before. `extra`, if not empty, is one more column after those.
class SlotModel {
 public:
    SlotModel(const StepsOf& steps, const SlotMeans& slots, const std::vector<Assigned>& noises,
              const std::vector<int>& windows, const Eigen::VectorXd& extra = {});

    // Carry-over of a noise that was on in all slots of its window, in ms. With the index after the last noise: the
    // coefficient of `extra`.
    double left_ms(Eigen::Index noise) const;

    // Standard error of the coefficient of `extra`; none if the other columns determine it.
    std::optional<double> error_of_extra_ms() const;

    enum class Side { both, more };

    // p-value of a noise's carry-over, or of `extra`, by exchange of residuals within blocks.
    double p(Eigen::Index noise, const Draws& draws, Side side = Side::both) const;

 private:
    // Values minus their block's mean, times the square root of the weight.
    Eigen::VectorXd scaled(const Eigen::VectorXd& values) const;

    const Experiment& plan_;
    Eigen::VectorXd root_;
    Eigen::MatrixXd columns_;
    Eigen::VectorXd time_;
};

}  // namespace analysis
