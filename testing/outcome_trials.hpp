// SPDX-License-Identifier: Apache-2.0
// Trials of soft errors with outcomes that a test chooses.
#pragma once

#include "analysis/outcomes/tables.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace analysis::testing {

constexpr std::int64_t moment = 10;
constexpr std::int64_t steps = 8;

// The band of undisturbed runs: mean accuracy 0.95, lower bound 0.90.
inline Bands band()
{
    return {{{"mlp", moment + steps}, {.accuracies = {0.93, 0.95}, .low = 0.90}}};
}

inline base::Outcome ended(double accuracy, const std::string& accuracies, double largest = 2.0)
{
    base::Outcome one{.kind = base::trial_kind::trial,
                      .strategy = "ddp",
                      .step = moment,
                      .path = "model/layers.0.weight",
                      .bits = "3",
                      .guard = "none",
                      .what = base::outcome_class::ended,
                      .accuracy = accuracy,
                      .loss = 0.1,
                      .drawn_from = 100.0,
                      .accuracies = accuracies,
                      .largest = largest,
                      .steps = steps};
    return one;
}

inline TrialRun run_of(std::vector<base::Outcome> outcomes)
{
    base::Outcome null = ended(0.95, "0:0.80 1:0.85 4:0.90 8:0.95");
    null.kind = base::trial_kind::null;
    null.what = base::outcome_class::masked;
    base::Outcome positive = ended(0.1, "0:0.1 8:0.1");
    positive.kind = base::trial_kind::positive;
    positive.what = base::outcome_class::collapsed;
    outcomes.insert(outcomes.begin(), {null, positive});
    TrialRun run{.directory = "run",
                 .model = "mlp",
                 .strategy = "ddp",
                 .trials = {},
                 .outcomes = {},
                 .held_out = 360,
                 .chance = 0.1,
                 .parameters = {},
                 .ranks = 2};
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        outcomes[i].trial = "t" + std::to_string(i);
        run.trials.push_back({.name = outcomes[i].trial, .kind = outcomes[i].kind, .step = moment, .steps = steps});
    }
    run.outcomes = std::move(outcomes);
    return run;
}

inline std::string class_of(const base::Outcome& outcome)
{
    return classed(run_of({outcome}), band()).back().what;
}

// Trials on each of the 32 bits of 100 numbers. Flips of bit 1 ruin the training, flips of other bits do not.
struct Bits {
    TrialRun run = run_of({});
    std::int64_t step = moment;

    void add(int number, int bit, const std::string& bits, const std::string& guard = "none")
    {
        for (int i = 0; i < number; ++i) {
            base::Outcome one = ended(bit == 1 ? 0.5 : 0.95, "0:0.80 8:0.95");
            one.trial = "s" + std::to_string(run.trials.size());
            one.step = step;
            one.steps = moment + steps - step;
            one.bits = std::to_string(bit);
            one.drawn_from = bits == "0-31" ? 3200.0 : 100.0;
            if (guard != "none" && bit == 1) one.caught = "0";
            run.outcomes.push_back(one);
            run.trials.push_back({.name = one.trial, .step = step, .bits = bits, .guard = guard, .steps = one.steps});
        }
    }
    void add_all(int of_each, const std::string& guard = "none")
    {
        for (int bit = 0; bit < 32; ++bit) add(of_each, bit, "0-31", guard);
    }
};

// An error rate that gives one flip in 1,000 hours for these 100 numbers.
constexpr ErrorRate one_flip{.per_mbit = 1e9 / 3200 * 1048576 / 1000};

inline OutcomeReport report_of(const std::vector<TrialRun>& runs)
{
    return outcome_report(runs, band(), ProportionInterval::wilson, one_flip);
}

inline ClassShare degraded(const OutcomeReport& report)
{
    for (const ClassShare& share : report.shares)
        if (share.location == "all" && share.bit == "all" && share.what == "degraded") return share;
    return {};
}

}  // namespace analysis::testing
