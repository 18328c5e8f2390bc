// SPDX-License-Identifier: Apache-2.0
#include "analysis/estimate/carry_over.hpp"

#include "analysis/estimate/lasting.hpp"
#include "base/random.hpp"
#include "base/system/stop.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace analysis {

namespace {

// [slot]: the work of its steps, and their mean.
struct SlotMeans {
    Eigen::VectorXd work;
    Eigen::VectorXd mean_ms;
};

enum class Of { ordinary_steps, all_steps };

// Means by slot; the excess of a long step counts in the slot in which the step begins.
SlotMeans means_by_slot(const Series& series, const StepsOf& steps, const Fit& fit, Of which)
{
    const auto slots = static_cast<Eigen::Index>(steps.plan.treatment_of.size());
    SlotMeans found{Eigen::VectorXd::Zero(slots), Eigen::VectorXd::Zero(slots)};
    for (std::size_t i = 0; i < steps.block.size(); ++i) {
        if (steps.block[i] < 0) continue;
        const bool is_long = steps.long_steps.kind[i] != LongSteps::ordinary;
        if (is_long && which == Of::ordinary_steps) continue;
        const double all_ms = series.measures.first(i);
        const double ms = is_long ? steps.long_steps.regular[i] * all_ms : all_ms;
        if (is_long) found.mean_ms[static_cast<Eigen::Index>(steps.exposures.slot[i])] += all_ms - ms;
        Overlaps work = series.shares[i];
        double sum = 0.0;
        const auto mean = [&](const Overlap& overlap) {
            return fit.mean_ms(static_cast<Eigen::Index>(treatment_of(overlap, steps.plan.treatment_of)), 0);
        };
        for (const Overlap& overlap : work) sum += overlap.share / mean(overlap);
        for (const Overlap& overlap : work) {
            if (overlap.as_quiet) continue;
            found.work[static_cast<Eigen::Index>(overlap.slot)] += overlap.share / mean(overlap) / sum;
            found.mean_ms[static_cast<Eigen::Index>(overlap.slot)] += overlap.share * ms;
        }
    }
    for (Eigen::Index s = 0; s < slots; ++s)
        if (found.work[s] > 0.0) found.mean_ms[s] /= found.work[s];
    return found;
}

// Least squares over slots, weighted by their work, with a mean for each block; gives the residuals of one column after
// fitting all others.
class SlotModel {
 public:
    SlotModel(const StepsOf& steps, const SlotMeans& slots, const std::vector<Assigned>& noises,
              const std::vector<int>& windows)
        : plan_{steps.plan}, root_{slots.work.cwiseSqrt()}
    {
        const auto treatments = static_cast<Eigen::Index>(plan_.treatments.size());
        columns_ = Eigen::MatrixXd::Zero(root_.size(), treatments - 1 + static_cast<Eigen::Index>(noises.size()));
        for (std::size_t s = 0; s < plan_.treatment_of.size(); ++s)
            if (plan_.treatment_of[s] > 0)
                columns_(static_cast<Eigen::Index>(s), static_cast<Eigen::Index>(plan_.treatment_of[s]) - 1) = 1.0;
        columns_.rightCols(static_cast<Eigen::Index>(noises.size())) = noise_before(plan_, noises, windows);
        for (Eigen::Index c = 0; c < columns_.cols(); ++c) columns_.col(c) = scaled(columns_.col(c));
        time_ = scaled(slots.mean_ms);
    }

    // Carry-over of a noise that was on in all slots of the window, in ms.
    double left_ms(Eigen::Index noise) const
    {
        const Eigen::VectorXd found = Eigen::ColPivHouseholderQR<Eigen::MatrixXd>{columns_}.solve(time_);
        return found[static_cast<Eigen::Index>(plan_.treatments.size()) - 1 + noise];
    }

    enum class Side { both, more };

    // p of the carry-over of one noise, by exchange of residuals within blocks.
    double p(Eigen::Index noise, const Draws& draws, Side side = Side::both) const
    {
        const auto treatments = static_cast<Eigen::Index>(plan_.treatments.size());
        const Eigen::Index tested = treatments - 1 + noise;
        Eigen::MatrixXd others(columns_.rows(), columns_.cols() - 1);
        others << columns_.leftCols(tested), columns_.rightCols(columns_.cols() - tested - 1);
        const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> solver{others};
        const Eigen::VectorXd left = time_ - others * solver.solve(time_);
        const Eigen::VectorXd column = columns_.col(tested) - others * solver.solve(columns_.col(tested));
        std::vector<std::vector<Eigen::Index>> blocks(static_cast<std::size_t>(plan_.blocks));
        for (std::size_t s = 0; s < plan_.block_of.size(); ++s)
            if (root_[static_cast<Eigen::Index>(s)] > 0.0)
                blocks[static_cast<std::size_t>(plan_.block_of[s])].push_back(static_cast<Eigen::Index>(s));
        const auto size = [side](double sum) { return side == Side::both ? std::abs(sum) : sum; };
        const double assigned = size(left.dot(column));
        const double rounding = 1e-9 * std::abs(assigned);
        base::Random random{draws.seed};
        int as_large = 1;
        for (int draw = 0; draw < draws.count; ++draw) {
            base::end_if_stopped();
            double sum = 0.0;
            for (const std::vector<Eigen::Index>& block : blocks) {
                std::vector<Eigen::Index> order = block;
                base::shuffle(random, std::span{order});
                for (std::size_t i = 0; i < block.size(); ++i) sum += left[order[i]] * column[block[i]];
            }
            if (size(sum) >= assigned - rounding) ++as_large;
        }
        return static_cast<double>(as_large) / (draws.count + 1.0);
    }

 private:
    // Values less their block's mean, times the square root of the weight.
    Eigen::VectorXd scaled(const Eigen::VectorXd& values) const
    {
        std::vector<double> sum(static_cast<std::size_t>(plan_.blocks), 0.0);
        std::vector<double> weight = sum;
        for (std::size_t s = 0; s < plan_.block_of.size(); ++s) {
            const double own = root_[static_cast<Eigen::Index>(s)] * root_[static_cast<Eigen::Index>(s)];
            sum[static_cast<std::size_t>(plan_.block_of[s])] += own * values[static_cast<Eigen::Index>(s)];
            weight[static_cast<std::size_t>(plan_.block_of[s])] += own;
        }
        Eigen::VectorXd scaled(values.size());
        for (std::size_t s = 0; s < plan_.block_of.size(); ++s) {
            const auto block = static_cast<std::size_t>(plan_.block_of[s]);
            const auto row = static_cast<Eigen::Index>(s);
            scaled[row] = weight[block] > 0.0 ? root_[row] * (values[row] - sum[block] / weight[block]) : 0.0;
        }
        return scaled;
    }

    const Experiment& plan_;
    Eigen::VectorXd root_;
    Eigen::MatrixXd columns_;
    Eigen::VectorXd time_;
};

std::int64_t steps_after(const Assigned& noise, const StepsOf& steps)
{
    std::int64_t count = 0;
    for (std::size_t i = 0; i < steps.block.size(); ++i) {
        if (steps.block[i] < 0 || steps.exposures.slot[i] < 1) continue;
        const auto before = static_cast<std::size_t>(steps.exposures.slot[i]) - 1;
        const std::vector<Assigned>& on = steps.plan.treatments[steps.plan.treatment_of[before]].on;
        if (std::find(on.begin(), on.end(), noise) != on.end()) ++count;
    }
    return count;
}

// [noise]: p of the hypothesis of no carry-over in its window, and the carry-over.
struct InWindows {
    std::vector<double> p;
    std::vector<Mean> percent;
};

// Estimates carry-over in requested windows, at most once for each.
class Looks {
 public:
    Looks(const Series& series, const StepsOf& steps, const Fit& fit, const Draws& draws, bool looked)
        : series_{series},
          steps_{steps},
          fit_{fit},
          slots_{means_by_slot(series, steps, fit, Of::ordinary_steps)},
          draws_{draws},
          looked_{looked}
    {
    }

    // The estimate; none if the order of slots does not separate carry-over from effects.
    const std::optional<InWindows>& in(const std::vector<int>& windows)
    {
        const auto [found, is_new] = all_.try_emplace(windows);
        if (is_new) found->second = look_in(windows);
        return found->second;
    }

 private:
    std::optional<InWindows> look_in(const std::vector<int>& windows)
    {
        fit_.lasting = lasting_of(fit_, series_, steps_, windows);
        if (!fit_.lasting) return std::nullopt;
        const std::vector<Assigned>& noises = fit_.lasting->noises;
        const SlotModel model{steps_, slots_, noises, windows};
        InWindows found;
        for (std::size_t n = 0; n < noises.size(); ++n) {
            const auto noise = static_cast<Eigen::Index>(n);
            const Combination only_carried{Eigen::VectorXd::Zero(fit_.treatments()),
                                           Eigen::VectorXd::Unit(static_cast<Eigen::Index>(noises.size()), noise)};
            Mean percent = percent_of_quiet(fit_, only_carried, 0, false);
            percent.looked_at = looked_;
            found.p.push_back(draws_.count > 0 && !looked_ ? model.p(noise, draws_) : percent.p_value());
            found.percent.push_back(percent);
        }
        return found;
    }

    const Series& series_;
    const StepsOf& steps_;
    Fit fit_;
    SlotMeans slots_;
    const Draws& draws_;
    bool looked_ = false;
    std::map<std::vector<int>, std::optional<InWindows>> all_;
};

constexpr double significant_beside_another = 0.01;

// A window that is tried for a noise without a chosen window.
struct Candidate {
    std::size_t noise = 0;
    int window = 1;
    double p_holm = 1.0;
    double t_holm = 1.0;     // p_holm of the t test, which no number of draws limits
    double clearness = 0.0;  // distance from zero in standard errors; decides where p of draws are equal
};

std::vector<Candidate> candidates(Looks& looks, const std::vector<int>& windows, const std::vector<bool>& open)
{
    std::vector<Candidate> all;
    std::vector<double> p;
    std::vector<double> t;
    for (const int window : lasting_windows) {
        std::vector<int> tried = windows;
        for (std::size_t n = 0; n < open.size(); ++n)
            if (open[n]) tried[n] = window;
        const std::optional<InWindows>& found = looks.in(tried);
        for (std::size_t n = 0; found && n < open.size(); ++n) {
            if (!open[n]) continue;
            all.push_back({n, window, 1.0, 1.0, std::abs(found->percent[n].value) / found->percent[n].standard_error});
            p.push_back(found->p[n]);
            t.push_back(found->percent[n].p_value());
        }
    }
    const std::vector<double> p_adjusted = holm(p);
    const std::vector<double> t_adjusted = holm(t);
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i].p_holm = p_adjusted[i];
        all[i].t_holm = t_adjusted[i];
    }
    return all;
}

// The chosen windows, by noise.
struct Settled {
    std::vector<int> windows;
    std::vector<double> p_holm;  // over all tests until the window was chosen
};

// Chooses windows by forward selection, so that carry-over of one noise into one slot does not hide that of another
// into eight. The clearest significant candidate sets the window for all levels of its noise; the other noises are
// tested again beside it, at 1 %, because more tests would make intervals of noises without carry-over too short.
Settled settle_windows(Looks& looks, const std::vector<Assigned>& noises)
{
    Settled settled{std::vector<int>(noises.size(), 1), std::vector<double>(noises.size(), 1.0)};
    std::vector<bool> open(noises.size(), true);
    for (double t_significant = 1.0;; t_significant = significant_beside_another) {
        const std::vector<Candidate> tried = candidates(looks, settled.windows, open);
        const Candidate* clearest = nullptr;
        for (const Candidate& one : tried) {
            if (one.window == 1) settled.p_holm[one.noise] = one.p_holm;
            if (one.p_holm > significant_carry_over || one.t_holm > t_significant) continue;
            if (clearest == nullptr || one.clearness > clearest->clearness) clearest = &one;
        }
        if (clearest == nullptr) return settled;
        for (const Candidate& one : tried) {
            if (one.window != clearest->window || noises[one.noise].factor != noises[clearest->noise].factor) continue;
            settled.windows[one.noise] = one.window;
            settled.p_holm[one.noise] = one.p_holm;
            open[one.noise] = false;
        }
    }
}

// Looks for long steps after a noise, which ordinary steps do not show.
void look_for_long_steps(const Series& series, const StepsOf& steps, const Fit& fit, std::uint64_t seed,
                         std::vector<CarryOver>& all)
{
    constexpr double significant = 0.01;
    constexpr int draws = 1999;
    if (std::all_of(steps.long_steps.kind.begin(), steps.long_steps.kind.end(),
                    [](std::int8_t kind) { return kind == LongSteps::ordinary; }))
        return;
    const SlotMeans slots = means_by_slot(series, steps, fit, Of::all_steps);
    const double quiet_ms = quiet_step_ms(fit, false);
    std::vector<double> p;
    std::vector<double> left_percent;
    for (const int window : lasting_windows) {
        const SlotModel model{steps, slots, fit.lasting->noises, std::vector<int>(all.size(), window)};
        for (std::size_t n = 0; n < all.size(); ++n) {
            const auto noise = static_cast<Eigen::Index>(n);
            p.push_back(model.p(noise, {.count = draws, .seed = seed}, SlotModel::Side::more));
            left_percent.push_back(100.0 * model.left_ms(noise) / quiet_ms);
        }
    }
    const std::vector<double> adjusted = holm(p);
    for (std::size_t i = 0; i < p.size(); ++i) {
        CarryOver& one = all[i % all.size()];
        if (adjusted[i] > significant || one.long_steps_slots > 0) continue;
        one.long_steps_slots = lasting_windows[i / all.size()];
        one.long_steps_percent = left_percent[i];
    }
}

}  // namespace

std::vector<CarryOver> carry_over(const Series& series, const StepsOf& steps, const Fit& fit, const Draws& draws,
                                  bool looked)
{
    if (!fit.lasting) return {};
    const std::vector<Assigned>& noises = fit.lasting->noises;
    Looks looks{series, steps, fit, draws, looked};
    const Settled settled = settle_windows(looks, noises);
    const std::optional<InWindows>& left = looks.in(settled.windows);
    if (!left) return {};
    std::vector<CarryOver> all;
    for (std::size_t n = 0; n < noises.size(); ++n) {
        CarryOver& found = all.emplace_back();
        found.factor = noises[n].factor;
        found.level = noises[n].level;
        found.stressor = noises[n].stressor;
        found.role = noises[n].role;
        found.slots = settled.windows[n];
        found.percent = left->percent[n];
        found.p = left->p[n];
        found.p_holm = settled.p_holm[n];
        found.steps = steps_after(noises[n], steps);
    }
    for (CarryOver& one : all) {
        const auto any_level = [&](double at_most) {
            return std::any_of(all.begin(), all.end(), [&](const CarryOver& level) {
                return level.factor == one.factor && level.p_holm <= at_most && level.percent.value > 0.0;
            });
        };
        one.counted = any_level(significant_carry_over);
        one.surely = any_level(sure_carry_over);
        one.helps = one.p_holm <= significant_carry_over && one.percent.value < 0.0;
    }
    look_for_long_steps(series, steps, fit, draws.seed, all);
    return all;
}

}  // namespace analysis
