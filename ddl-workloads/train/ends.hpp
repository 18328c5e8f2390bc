// When a training ends: what its plan says, what this rank finds, what all ranks agree on.
#pragma once

#include "base/cli/options.hpp"
#include "ddl-workloads/train/steps/step_exchange.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace ddl {

struct EndPlan {
    std::int64_t steps = 0;  // each of these three: 0 for no such end; the first one reached counts
    std::int64_t epochs = 0;
    base::Nanoseconds duration{0};
    std::optional<double> until_loss;                // mean of all ranks over the last ten steps
    std::optional<double> until_accuracy;            // 0 to 1, on held-out images at the end of an epoch
    base::Nanoseconds stall_after{300'000'000'000};  // 0: never
};

class EndOptions {
 public:
    // Adds them; both must outlive it.
    EndOptions(base::Options& options, EndPlan& plan);

    // Completes the plan once the options were parsed. Throws UsageError.
    void read() const;

 private:
    EndPlan& plan_;
    std::string until_loss_;
    std::string until_accuracy_;
};

class Ends {
 public:
    // The training's time begins now. The plan must outlive it.
    Ends(const EndPlan& plan, std::int64_t steps_per_epoch);

    // Whether so many steps are all of them, or end an epoch after which the held-out samples are guessed.
    bool reached(std::int64_t steps) const;
    bool ends_epoch(std::int64_t steps) const;

    // What this rank reports to the others: it got a signal, reached that accuracy (0 to 1), or its time is up.
    Stop wish(std::optional<double> accuracy) const;

    // What all ranks reported: from then on stop() is what they agree on, the same on all.
    void hear(const std::vector<StepNews>& news);
    Stop stop() const { return stop_; }

    // 0 to 1: how far a training of so many steps has come.
    double fraction(std::int64_t steps) const;

    // For the record: "steps", "epochs", "duration", "loss", "accuracy", "guard", "signal".
    std::string text(std::int64_t steps) const;

 private:
    bool loss_is_low_enough(const std::vector<StepNews>& news);

    const EndPlan& plan_;
    std::int64_t steps_per_epoch_;
    std::int64_t begun_ns_;
    Stop stop_ = Stop::no;
    std::deque<double> losses_;  // of the last steps, each the mean of all ranks
};

}  // namespace ddl
