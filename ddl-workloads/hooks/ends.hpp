// SPDX-License-Identifier: Apache-2.0
// When a training ends: the plan's conditions, the request of this rank, and the decision that all ranks share.
#pragma once

#include "ddl-workloads/plan/end_options.hpp"
#include "ddl-workloads/step/step_context.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>

namespace ddl {

// Each rank's report to all other ranks, once a step.
struct EndNews {
    Stop request = Stop::no;
    bool complete = false;  // a step was made; `loss` is its loss, 0 for a model without a loss
    double loss = 0.0;
};

// The strongest request among the ranks.
Stop agreed(std::span<const EndNews> news);

// Sets StepState::stop to the decision of all ranks, one step after the first rank requested a stop.
class Ends : public Hook {
 public:
    // The plan must outlive it.
    Ends(const EndPlan& plan, std::int64_t steps_per_epoch, NewsBoard& board);

    void begin(StepContext& context) override;  // starts the clock of --duration
    void post(StepContext& context) override;
    void receive(StepContext& context) override;
    void after_update(StepContext& context) override;
    void after_last_step(StepContext& context) override;

    // True if the training, or an epoch after which the held-out samples are evaluated, ends after `steps` steps.
    bool reached(std::int64_t steps) const;
    bool ends_epoch(std::int64_t steps) const;

    // Reports the share of held-out samples that were classified correctly, 0 to 1.
    void evaluated(std::optional<double> accuracy) { accuracy_ = accuracy; }

    // Share of the training that is done after `steps` steps, 0 to 1.
    double fraction(std::int64_t steps) const;

    // The reason of the end, for the run record: "steps", "epochs", "duration", "loss", "accuracy", "guard", "signal".
    std::string text(const StepState& state) const;

 private:
    Stop own_request() const;
    bool loss_is_low_enough(std::span<const EndNews> news);

    const EndPlan& plan_;
    std::int64_t steps_per_epoch_;
    NewsBoard::Slot<EndNews> slot_;
    std::int64_t begun_ns_ = 0;
    std::optional<double> accuracy_;
    EndNews news_;
    bool over_ = false;
    std::deque<double> losses_;  // losses of the last steps; each is the mean over the ranks
};

}  // namespace ddl
