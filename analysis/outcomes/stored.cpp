// SPDX-License-Identifier: Apache-2.0
#include "analysis/outcomes/stored.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace analysis {

namespace {

StoredPoint point_of(const std::vector<const ClassedTrial*>& trials, ProportionInterval kind)
{
    const ClassedTrial& first = *trials.front();
    StoredPoint point{.model = first.model,
                      .strategy = first.outcome.strategy,
                      .store = first.trial.store,
                      .detect = first.trial.detect,
                      .reads = first.trial.reads,
                      .step = first.trial.step,
                      .steps = first.trial.steps,
                      .rate = first.trial.rate,
                      .trials = static_cast<std::int64_t>(trials.size())};
    std::vector<double> accuracies;
    const auto count = static_cast<double>(trials.size());
    for (const ClassedTrial* one : trials) {
        accuracies.push_back(one->outcome.accuracy.value_or(0.0));
        point.accuracy += accuracies.back() / count;
        point.ruined += is_ruined(one->what) ? 1 : 0;
        point.flipped += static_cast<double>(one->outcome.flipped.value_or(0)) / count;
        point.detected += static_cast<double>(one->outcome.detected.value_or(0)) / count;
    }
    constexpr double confidence = 0.95;
    point.interval = trials.size() > 1 ? base::mean_of(accuracies).interval(confidence) : base::Interval{0.0, 1.0};
    point.interval = {std::clamp(point.interval.low, 0.0, 1.0), std::clamp(point.interval.high, 0.0, 1.0)};
    point.ruined_percent = kind == ProportionInterval::wilson
                               ? base::wilson(static_cast<double>(point.ruined), count, confidence)
                               : base::clopper_pearson(static_cast<double>(point.ruined), count, confidence);
    point.ruined_percent = {100.0 * point.ruined_percent.low, 100.0 * point.ruined_percent.high};
    return point;
}

using Panel = std::tuple<std::string, std::string, std::int64_t, std::int64_t, std::string,
                         std::string>;  // key of a panel: model, strategy, step, steps, reads, detect

}  // namespace

std::vector<StoredPoint> stored_points(const OutcomeReport& report)
{
    std::map<std::tuple<Panel, std::string, double>, std::vector<const ClassedTrial*>> groups;
    for (const ClassedTrial& one : report.trials) {
        const base::Trial& trial = one.trial;
        if (trial.kind == base::trial_kind::stored)
            groups[{Panel{one.model, one.outcome.strategy, trial.step, trial.steps, trial.reads, trial.detect},
                    trial.store, trial.rate}]
                .push_back(&one);
    }
    std::vector<StoredPoint> points;
    for (const auto& [group, trials] : groups) points.push_back(point_of(trials, report.interval));
    return points;
}

}  // namespace analysis
