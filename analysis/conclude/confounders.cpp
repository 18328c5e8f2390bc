// SPDX-License-Identifier: Apache-2.0
#include "analysis/conclude/confounders.hpp"

#include "base/contract/factor_name.hpp"
#include "base/error.hpp"

#include <boost/math/distributions/binomial.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <numbers>

namespace analysis {

namespace {

constexpr int enough_episodes = 10;
constexpr double unlikely = 0.01;

// A noise at one level, with its slots.
struct Observed {
    std::string name;
    std::vector<std::size_t> slots;
    double effect_percent = 0.0;
};

std::vector<Observed> noises(const DesignedRun& run, const Analysis& analysis)
{
    std::vector<Observed> all;
    for (const Effect& effect : of(analysis.effects, Family::step)) {
        if (effect.phase != "step" || effect.rank != all_ranks || effect.kind != Kind::alone) continue;
        Observed& one = all.emplace_back();
        one.name = base::factor_name(effect.factor, effect.level);
        one.effect_percent = effect.percent.value;
        const std::vector<Slot>& slots = run.slots.front();
        for (std::size_t s = 0; s < slots.size(); ++s)
            if (std::any_of(slots[s].on.begin(), slots[s].on.end(),
                            [&](const Assigned& on) { return on.factor == effect.factor && on.level == effect.level; }))
                one.slots.push_back(s);
    }
    return all;
}

std::string points(double number)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.1f %%", number);
    return text;
}

// Starts of the noise's episodes; adjacent slots are one episode.
std::vector<std::int64_t> begins(const DesignedRun& run, const Observed& noise)
{
    std::vector<std::int64_t> all;
    for (std::size_t i = 0; i < noise.slots.size(); ++i)
        if (i == 0 || noise.slots[i] != noise.slots[i - 1] + 1)
            all.push_back(run.slots.front()[noise.slots[i]].begin_ns);
    return all;
}

// Trend of quiet steps over the run, in percent of their mean; and how much later noisy steps are than quiet steps, as
// a share of the run.
struct Trend {
    double percent = 0.0;
    double later = 0.0;
};

Trend trend(const DesignedRun& run, const Analysis& analysis, const Observed& noise)
{
    const RankSteps& rank = run.steps.ranks.front();
    const auto begin = static_cast<double>(rank.begin_ns.front());
    const double length = static_cast<double>(rank.end_ns.back()) - begin;
    double n = 0.0;
    double x = 0.0;
    double y = 0.0;
    double xx = 0.0;
    double xy = 0.0;
    double noisy = 0.0;
    double noisy_x = 0.0;
    for (std::size_t i = 0; i < rank.begin_ns.size(); ++i) {
        if (analysis.exposures.left_out[i] != LeftOut::no || is_set_aside(analysis, run.plan, i)) continue;
        const auto slot = static_cast<std::size_t>(analysis.exposures.slot[i]);
        const double at = (static_cast<double>(rank.begin_ns[i]) - begin) / length;
        if (std::binary_search(noise.slots.begin(), noise.slots.end(), slot)) {
            noisy += 1.0;
            noisy_x += at;
        } else if (run.slots.front()[slot].on.empty()) {
            const auto ms = static_cast<double>(rank.end_ns[i] - rank.begin_ns[i]) / 1e6;
            n += 1.0;
            x += at;
            y += ms;
            xx += at * at;
            xy += at * ms;
        }
    }
    const double spread = n * xx - x * x;
    if (n < 3.0 || noisy < 1.0 || spread <= 0.0 || y <= 0.0) return {};
    const double slope = (n * xy - x * y) / spread;
    return {100.0 * slope / (y / n), noisy_x / noisy - x / n};
}

// Positions within a step, 0 to 1, at which episodes begin, and these steps.
struct Places {
    std::vector<double> in_step;
    std::vector<std::size_t> steps;
};

Places places(const DesignedRun& run, const std::vector<std::int64_t>& begin_ns)
{
    const RankSteps& rank = run.steps.ranks.front();
    Places found;
    for (const std::int64_t begin : begin_ns) {
        const auto after = std::upper_bound(rank.begin_ns.begin(), rank.begin_ns.end(), begin);
        if (after == rank.begin_ns.begin()) continue;
        const auto step = static_cast<std::size_t>(after - rank.begin_ns.begin()) - 1;
        if (begin >= rank.end_ns[step]) continue;
        found.steps.push_back(step);
        found.in_step.push_back(static_cast<double>(begin - rank.begin_ns[step]) /
                                static_cast<double>(rank.end_ns[step] - rank.begin_ns[step]));
    }
    return found;
}

std::string same_place(const Observed& noise, const Places& begun)
{
    std::complex<double> sum{0.0, 0.0};
    for (const double place : begun.in_step) sum += std::polar(1.0, 2.0 * std::numbers::pi * place);
    const auto n = static_cast<double>(begun.in_step.size());
    if (n < 3.0 || std::exp(-std::norm(sum) / n) > unlikely) return "";
    double place = std::arg(sum) / (2.0 * std::numbers::pi);
    if (place < 0.0) place += 1.0;
    return base::join(noise.name, " begins at the same position of a step, after ", points(100.0 * place),
                      " of it: the noise may depend on the training, or both may depend on something else");
}

// Names a phase that few steps have, but more of the steps in which noise begins than by chance; else empty.
std::string with_phase(const DesignedRun& run, const Observed& noise, const Places& begun)
{
    const LongTable& phases = run.steps.ranks.front().phase_ms;
    for (std::size_t p = 0; p < run.steps.phases.size(); ++p) {
        const auto column = static_cast<Eigen::Index>(p);
        double steps_with = 0.0;
        for (Eigen::Index i = 0; i < phases.rows(); ++i) steps_with += phases(i, column) > 0.0 ? 1.0 : 0.0;
        const double share = steps_with / static_cast<double>(phases.rows());
        if (share <= 0.0 || share > 0.5 || begun.steps.empty()) continue;
        const auto with = std::count_if(begun.steps.begin(), begun.steps.end(), [&](std::size_t step) {
            return phases(static_cast<Eigen::Index>(step), column) > 0.0;
        });
        if (with == 0) continue;
        const boost::math::binomial chance{static_cast<double>(begun.steps.size()), share};
        if (boost::math::cdf(boost::math::complement(chance, static_cast<double>(with) - 1.0)) < unlikely)
            return base::join(noise.name, " begins in steps with ", run.steps.phases[p], " (", with, " of ",
                              begun.steps.size(), ", of all steps ", points(100.0 * share),
                              "): the extra length of such steps is attributed to the noise");
    }
    return "";
}

std::string one_part(const DesignedRun& run, const Observed& noise)
{
    const std::vector<Slot>& slots = run.slots.front();
    const auto whole = static_cast<double>(slots.back().end_ns - slots.front().begin_ns);
    const auto within = static_cast<double>(slots[noise.slots.back()].end_ns - slots[noise.slots.front()].begin_ns);
    if (within > whole / 2.0) return "";
    return base::join(noise.name, " ran within ", std::lround(100.0 * within / whole),
                      " % of the run: effects of the time of day are included");
}

std::string trend_of(const DesignedRun& run, const Analysis& analysis, const Observed& noise)
{
    const Trend found = trend(run, analysis, noise);
    const double gives = found.percent * found.later;
    if (std::abs(gives) < std::max(0.2, std::abs(noise.effect_percent) / 10.0)) return "";
    return base::join("quiet steps change by ", points(found.percent), " over the run, and ", noise.name, " ran ",
                      found.later > 0.0 ? "late" : "early", " in it: the trend alone explains ", points(gives),
                      " of its effect of ", points(noise.effect_percent));
}

}  // namespace

std::vector<std::string> confounders(const DesignedRun& run, const Analysis& analysis)
{
    std::vector<std::string> all{
        "observational: noise was not randomised, so its effect includes all that coincided with it; there is no "
        "verdict"};
    const auto add = [&](std::string sentence) {
        if (!sentence.empty()) all.push_back(std::move(sentence));
    };
    for (const Observed& noise : noises(run, analysis)) {
        if (noise.slots.empty()) continue;
        const std::vector<std::int64_t> begin_ns = begins(run, noise);
        if (static_cast<int>(begin_ns.size()) < enough_episodes)
            add(base::join(noise.name, " ran in ", begin_ns.size(), begin_ns.size() == 1 ? " episode" : " episodes",
                           ", so their variation is hardly known"));
        const Places begun = places(run, begin_ns);
        add(one_part(run, noise));
        add(trend_of(run, analysis, noise));
        add(same_place(noise, begun));
        add(with_phase(run, noise, begun));
    }
    return all;
}

}  // namespace analysis
