// SPDX-License-Identifier: Apache-2.0
#include "analysis/estimate/carry_over.hpp"

#include "analysis/estimate/lasting.hpp"
#include "analysis/estimate/slot_model.hpp"
#include "base/random.hpp"
#include "base/system/stop.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace analysis {

namespace {

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
class InAnyWindows {
 public:
    InAnyWindows(const Series& series, const StepsOf& steps, const Fit& fit, const Draws& draws, Looks when)
        : series_{series},
          steps_{steps},
          fit_{fit},
          slots_{means_by_slot(series, steps, fit, Of::ordinary_steps)},
          draws_{draws},
          when_{when}
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
            percent.looks = when_;
            found.p.push_back(draws_.count > 0 && when_ == Looks::none ? model.p(noise, draws_) : percent.p_value());
            found.percent.push_back(percent);
        }
        return found;
    }

    const Series& series_;
    const StepsOf& steps_;
    Fit fit_;
    SlotMeans slots_;
    const Draws& draws_;
    Looks when_ = Looks::none;
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

std::vector<Candidate> candidates(InAnyWindows& estimates, const std::vector<int>& windows,
                                  const std::vector<bool>& open)
{
    std::vector<Candidate> all;
    std::vector<double> p;
    std::vector<double> t;
    for (const int window : lasting_windows) {
        std::vector<int> tried = windows;
        for (std::size_t n = 0; n < open.size(); ++n)
            if (open[n]) tried[n] = window;
        const std::optional<InWindows>& found = estimates.in(tried);
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
// into eight. The clearest significant candidate sets the window for all levels of its noise; then the other noises are
// tested again with that window in the model, at 1 %, because more tests would make intervals of noises without
// carry-over too narrow.
Settled settle_windows(InAnyWindows& estimates, const std::vector<Assigned>& noises)
{
    Settled settled{std::vector<int>(noises.size(), 1), std::vector<double>(noises.size(), 1.0)};
    std::vector<bool> open(noises.size(), true);
    for (double t_significant = 1.0;; t_significant = significant_beside_another) {
        const std::vector<Candidate> tried = candidates(estimates, settled.windows, open);
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
                                  Looks when)
{
    if (!fit.lasting) return {};
    const std::vector<Assigned>& noises = fit.lasting->noises;
    InAnyWindows estimates{series, steps, fit, draws, when};
    const Settled settled = settle_windows(estimates, noises);
    const std::optional<InWindows>& left = estimates.in(settled.windows);
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
