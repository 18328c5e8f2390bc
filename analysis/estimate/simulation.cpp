// SPDX-License-Identifier: Apache-2.0
#include "analysis/estimate/simulation.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <span>

namespace analysis {

namespace {

std::vector<Slot> rotation(const Simulation& what, base::Random& random)
{
    const std::size_t factors = what.effects_percent.size();
    const auto quiet = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(factors))));
    const auto slot_ns = static_cast<std::int64_t>(what.slot_s * 1e9);
    const auto run_ns = static_cast<std::int64_t>(what.run_s * 1e9);
    std::vector<Slot> slots;
    std::int64_t time_ns = 0;
    for (std::int64_t block = 0; time_ns < run_ns; ++block) {
        std::vector<std::size_t> order(factors + quiet);  // values at or above `factors` are quiet
        std::iota(order.begin(), order.end(), std::size_t{0});
        base::shuffle(random, std::span{order});
        for (const std::size_t factor : order) {
            Slot& slot = slots.emplace_back(Slot{block, time_ns, time_ns + slot_ns, {}});
            const bool levels = !what.levels.empty();
            if (factor < factors)
                slot.on.push_back(
                    {levels ? "f" : base::join("f", factor), levels ? what.levels[factor] : "", "simulated"});
            time_ns += slot_ns;
        }
    }
    return slots;
}

constexpr std::size_t pieces = 50;  // pieces of a slot, each with a constant speed

// Index of the factor that is on in a slot; the number of factors if none is.
std::size_t factor_on(const Simulation& what, const Slot& slot)
{
    if (slot.on.empty()) return what.effects_percent.size();
    if (what.levels.empty()) return std::stoul(slot.on[0].factor.substr(1));
    return static_cast<std::size_t>(std::find(what.levels.begin(), what.levels.end(), slot.on[0].level) -
                                    what.levels.begin());
}

// [piece of a slot]: slowdown, the factor by which work takes longer than on a quiet machine.
std::vector<double> slowdowns(const Simulation& what, const std::vector<Slot>& slots)
{
    const std::size_t quiet = what.effects_percent.size();
    std::vector<double> all;
    std::size_t before = quiet;
    for (const Slot& slot : slots) {
        const std::size_t now = factor_on(what, slot);
        const double own = now == quiet ? 0.0 : what.effects_percent[now];
        const double left = before == quiet || what.carry_over_percent.empty() ? 0.0 : what.carry_over_percent[before];
        for (std::size_t piece = 0; piece < pieces; ++piece) {
            const double since_s = (static_cast<double>(piece) + 0.5) / pieces * what.slot_s;
            const double decayed = what.carry_over_s > 0.0 ? left * std::exp(-since_s / what.carry_over_s) : left;
            all.push_back(1.0 + (own + decayed) / 100.0);
        }
        before = now;
    }
    return all;
}

// End of a step that begins at begin_ms. Its work, in ms on a quiet machine, is done at the speed of each piece of
// time.
double end_of_work(double begin_ms, double work_ms, const std::vector<double>& slowdown, double piece_ms)
{
    double time = begin_ms;
    for (auto piece = static_cast<std::size_t>(begin_ms / piece_ms); piece < slowdown.size(); ++piece) {
        const double border = piece_ms * static_cast<double>(piece + 1);
        const double needed = work_ms * slowdown[piece];
        if (time + needed <= border) return time + needed;
        work_ms -= (border - time) / slowdown[piece];
        time = border;
    }
    return time + work_ms;
}

// Stalls of the host, at random times. A step that ends during or after a stall ends later by it.
class Stalls {
 public:
    Stalls(const Simulation& what, base::Random& random) : what_{what}, random_{random} { next_ms_ = gap(); }

    double end(double end_ms)
    {
        if (what_.stalled <= 0.0) return end_ms;
        while (next_ms_ < end_ms) {
            end_ms += what_.stall_ms;
            next_ms_ += what_.stall_ms + gap();
        }
        return end_ms;
    }

 private:
    double gap()
    {
        if (what_.stalled <= 0.0) return 0.0;
        return -std::log(1.0 - base::draw_unit(random_)) * what_.stall_ms * (1.0 - what_.stalled) / what_.stalled;
    }

    const Simulation& what_;
    base::Random& random_;
    double next_ms_ = 0.0;
};

}  // namespace

SimulatedRun simulate(const Simulation& what, base::Random& random)
{
    SimulatedRun run;
    run.slots = rotation(what, random);
    const std::vector<double> slowdown = slowdowns(what, run.slots);

    run.steps.phases = {"compute", "exchange"};
    RankSteps& rank = run.steps.ranks.emplace_back();
    const double slot_ms = what.slot_s * 1e3;
    const double end_ms = slot_ms * static_cast<double>(run.slots.size());
    const double innovation = std::sqrt(1.0 - what.autocorrelation * what.autocorrelation);
    const double drift_phase = 2.0 * std::numbers::pi * base::draw_unit(random);
    double deviation = base::draw_normal(random);
    double time = what.step_ms * base::draw_unit(random);
    Stalls stalls{what, random};
    while (true) {
        const double drift = what.drift / 2.0 * std::sin(drift_phase + std::numbers::pi * time / end_ms);
        double work = what.step_ms * (1.0 + drift) * std::max(0.1, 1.0 + what.deviation * deviation);
        deviation = what.autocorrelation * deviation + innovation * base::draw_normal(random);
        if (base::draw_unit(random) < what.outlier_rate) work *= 2.0 + 3.0 * base::draw_unit(random);
        const double end = stalls.end(end_of_work(time, work, slowdown, slot_ms / pieces));
        if (end >= end_ms) break;
        run.steps.numbers.push_back(static_cast<std::int64_t>(rank.begin_ns.size()));
        rank.begin_ns.push_back(std::llround(time * 1e6));
        rank.end_ns.push_back(std::llround(end * 1e6));
        time = end;
    }
    const auto steps = static_cast<Eigen::Index>(rank.begin_ns.size());
    rank.phase_ms.resize(steps, 2);
    for (Eigen::Index i = 0; i < steps; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const double step_ms = static_cast<double>(rank.end_ns[at] - rank.begin_ns[at]) / 1e6;
        rank.phase_ms(i, 0) = step_ms * 2.0 / 3.0;
        rank.phase_ms(i, 1) = step_ms - rank.phase_ms(i, 0);
    }
    return run;
}

}  // namespace analysis
