// SPDX-License-Identifier: Apache-2.0
// Least squares over slots, for what noises leave to later slots.
#pragma once

#include "analysis/estimate/fit.hpp"
#include "analysis/estimate/rerandomise.hpp"

#include <Eigen/Dense>

#include <optional>
#include <vector>

namespace analysis {

// [slot]: the work of its steps, and their mean.
struct SlotMeans {
    Eigen::VectorXd work;
    Eigen::VectorXd mean_ms;
};

enum class Of { ordinary_steps, all_steps };

// Means by slot; the excess of a long step counts in the slot in which the step begins.
SlotMeans means_by_slot(const Series& series, const StepsOf& steps, const Fit& fit, Of which);

// Weighted by the slots' work, with a mean for each block and each treatment; gives the residuals of one column after
// fitting all others. `extra`, if not empty, is one more column, after those of the noises.
class SlotModel {
 public:
    SlotModel(const StepsOf& steps, const SlotMeans& slots, const std::vector<Assigned>& noises,
              const std::vector<int>& windows, const Eigen::VectorXd& extra = {});

    // Carry-over of a noise that was on in all slots of the window, in ms; of the number of noises: the extra column.
    double left_ms(Eigen::Index noise) const;

    // Standard error of the extra column's coefficient; none where the other columns determine it.
    std::optional<double> error_of_extra_ms() const;

    enum class Side { both, more };

    // p of the carry-over of one noise, or of the extra column, by exchange of residuals within blocks.
    double p(Eigen::Index noise, const Draws& draws, Side side = Side::both) const;

 private:
    // Values less their block's mean, times the square root of the weight.
    Eigen::VectorXd scaled(const Eigen::VectorXd& values) const;

    const Experiment& plan_;
    Eigen::VectorXd root_;
    Eigen::MatrixXd columns_;
    Eigen::VectorXd time_;
};

}  // namespace analysis
