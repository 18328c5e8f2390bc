// SPDX-License-Identifier: Apache-2.0
#include "analysis/estimate/contrasts.hpp"

#include "base/contract/roles.hpp"

#include <algorithm>
#include <optional>

namespace analysis {

namespace {

using Setting = std::vector<Assigned>;

// Every factor at every level in the plan, in order of appearance.
std::vector<Assigned> assigned_anywhere(const Experiment& plan)
{
    std::vector<Assigned> all;
    for (const Treatment& treatment : plan.treatments)
        for (const Assigned& on : treatment.on)
            if (std::find(all.begin(), all.end(), on) == all.end()) all.push_back(on);
    return all;
}

bool has_factor(const Treatment& treatment, const std::string& factor)
{
    return std::any_of(treatment.on.begin(), treatment.on.end(), [&](const Assigned& a) { return a.factor == factor; });
}

Setting with(Setting setting, const Assigned& added)
{
    setting.push_back(added);
    std::sort(setting.begin(), setting.end(), [](const Assigned& a, const Assigned& b) { return a.factor < b.factor; });
    return setting;
}

std::optional<std::size_t> treatment_of(const Experiment& plan, const Setting& on)
{
    for (std::size_t t = 0; t < plan.treatments.size(); ++t)
        if (plan.treatments[t].on == on) return t;
    return std::nullopt;
}

Contrast without_weights(const Experiment& plan, Assigned factor, Kind kind)
{
    const auto treatments = static_cast<Eigen::Index>(plan.treatments.size());
    return {std::move(factor.factor),
            std::move(factor.level),
            std::move(factor.stressor),
            factor.role,
            kind,
            Eigen::VectorXd::Zero(treatments),
            {}};
}

void add(Contrast& contrast, std::size_t treatment, double weight)
{
    contrast.weights[static_cast<Eigen::Index>(treatment)] += weight;
}

// The factor on against off, over every setting of the other factors that occurs with both.
Contrast average(const Experiment& plan, const Assigned& factor)
{
    Contrast contrast = without_weights(plan, factor, Kind::average);
    for (std::size_t without = 0; without < plan.treatments.size(); ++without) {
        if (has_factor(plan.treatments[without], factor.factor)) continue;
        const std::optional<std::size_t> with_it = treatment_of(plan, with(plan.treatments[without].on, factor));
        if (!with_it) continue;
        add(contrast, *with_it, 1.0);
        add(contrast, without, -1.0);
        contrast.exchangeable.emplace_back(*with_it, without);
    }
    contrast.weights /= static_cast<double>(contrast.exchangeable.size());
    return contrast;
}

// The treatment with which the factor alone is compared: the sham for a delay, quiet for all others.
std::size_t baseline(const Experiment& plan, const Assigned& factor)
{
    if (factor.role != base::Role::delay) return 0;
    const auto sham = std::find_if(plan.treatments.begin(), plan.treatments.end(), [](const Treatment& treatment) {
        return treatment.on.size() == 1 && treatment.on.front().role == base::Role::sham;
    });
    return sham == plan.treatments.end() ? 0 : static_cast<std::size_t>(sham - plan.treatments.begin());
}

Contrast alone(const Experiment& plan, const Assigned& factor, std::size_t treatment)
{
    const std::size_t without = baseline(plan, factor);
    Contrast contrast = without_weights(plan, factor, Kind::alone);
    add(contrast, treatment, 1.0);
    add(contrast, without, -1.0);
    contrast.exchangeable.emplace_back(treatment, without);
    return contrast;
}

std::optional<Contrast> interaction(const Experiment& plan, const Assigned& a, const Assigned& b)
{
    if (b.factor < a.factor) return interaction(plan, b, a);  // one name for both orders
    const std::string level = a.level.empty() && b.level.empty() ? "" : a.level + "*" + b.level;
    Contrast contrast = without_weights(plan, {a.factor + "*" + b.factor, level, ""}, Kind::interaction);
    double settings = 0.0;
    for (std::size_t neither = 0; neither < plan.treatments.size(); ++neither) {
        const Treatment& others = plan.treatments[neither];
        if (has_factor(others, a.factor) || has_factor(others, b.factor)) continue;
        const std::optional<std::size_t> only_a = treatment_of(plan, with(others.on, a));
        const std::optional<std::size_t> only_b = treatment_of(plan, with(others.on, b));
        const std::optional<std::size_t> both = treatment_of(plan, with(with(others.on, a), b));
        if (!only_a || !only_b || !both) continue;
        add(contrast, *both, 1.0);
        add(contrast, *only_a, -1.0);
        add(contrast, *only_b, -1.0);
        add(contrast, neither, 1.0);
        settings += 1.0;
    }
    if (settings == 0.0) return std::nullopt;
    contrast.weights /= settings;
    return contrast;
}

}  // namespace

std::string text(Kind kind)
{
    switch (kind) {
        case Kind::average:
            return "average";
        case Kind::interaction:
            return "interaction";
        case Kind::alone:
            break;
    }
    return "alone";
}

std::vector<Contrast> contrasts(const Experiment& plan)
{
    const std::vector<Assigned> factors = assigned_anywhere(plan);
    std::vector<Contrast> all;
    for (const Assigned& factor : factors) {
        if (const auto treatment = treatment_of(plan, {factor})) all.push_back(alone(plan, factor, *treatment));
        Contrast mean = average(plan, factor);
        if (mean.exchangeable.size() > 1) all.push_back(std::move(mean));
    }
    for (std::size_t i = 0; i < factors.size(); ++i)
        for (std::size_t j = i + 1; j < factors.size(); ++j)
            if (factors[i].factor != factors[j].factor)
                if (auto both = interaction(plan, factors[i], factors[j])) all.push_back(std::move(*both));
    return all;
}

}  // namespace analysis
