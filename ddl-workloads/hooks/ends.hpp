// SPDX-License-Identifier: Apache-2.0
// When a training ends: what its plan says, what this rank finds, what all ranks agree on.
#pragma once

#include "ddl-workloads/plan/end_options.hpp"
#include "ddl-workloads/step/step_context.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>

namespace ddl {

// A rank's report to the others, once a step.
struct EndNews {
    Stop request = Stop::no;
    bool complete = false;  // a step was made, and this was its loss, 0 of a model without one
    double loss = 0.0;
};

// The strongest request of any rank.
Stop agreed(std::span<const EndNews> news);

// StepState::stop is what all ranks agree on, one step after the first of them requested it.
class Ends : public Hook {
 public:
    // The plan must outlive it.
    Ends(const EndPlan& plan, std::int64_t steps_per_epoch, NewsBoard& board);

    void begin(StepContext& context) override;  // the training's time begins now
    void post(StepContext& context) override;
    void receive(StepContext& context) override;
    void after_update(StepContext& context) override;
    void after_last_step(StepContext& context) override;

    // Whether the training, or an epoch after which the held-out samples are guessed, ends after `steps` steps.
    bool reached(std::int64_t steps) const;
    bool ends_epoch(std::int64_t steps) const;

    // The share of held-out samples that was guessed right, 0 to 1.
    void evaluated(std::optional<double> accuracy) { accuracy_ = accuracy; }

    // Progress after `steps` steps, 0 to 1.
    double fraction(std::int64_t steps) const;

    // For the record: "steps", "epochs", "duration", "loss", "accuracy", "guard", "signal".
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
    std::deque<double> losses_;  // of the last steps, each the mean of all ranks
};

}  // namespace ddl
