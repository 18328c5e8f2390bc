// When a training ends: what its plan says, what this rank finds, what all ranks agree on.
#pragma once

#include "ddl-workloads/train/plan.hpp"
#include "ddl-workloads/train/step_exchange.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace ddl {

class Ends {
 public:
    // The training's time begins now.
    Ends(const TrainingPlan& plan, std::int64_t steps_per_epoch);

    // Whether so many steps are all of them, or end an epoch after which the held-out samples are guessed.
    bool reached(std::int64_t steps) const;
    bool ends_epoch(std::int64_t steps) const;

    // What this rank tells the others: it got a signal, reached that accuracy (0 to 1), or its time is up.
    Stop wish(std::optional<double> accuracy) const;

    // What all ranks reported: from then on stop() is what they agree on, the same on all.
    void hear(const std::vector<StepNews>& news);
    Stop stop() const { return stop_; }

    // 0 to 1: how far a training of so many steps has come.
    double fraction(std::int64_t steps) const;

    // For the record: "steps", "epochs", "duration", "loss", "accuracy", "signal".
    std::string text(std::int64_t steps) const;

 private:
    bool loss_is_low_enough(const std::vector<StepNews>& news);

    const TrainingPlan& plan_;
    std::int64_t steps_per_epoch_;
    std::int64_t begun_ns_;
    Stop stop_ = Stop::no;
    std::deque<double> losses_;  // of the last steps, each the mean of all ranks
};

}  // namespace ddl
