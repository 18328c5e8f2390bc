// SPDX-License-Identifier: Apache-2.0
// Interface of strategies, which carry out the steps of a training on all ranks.
#pragma once

#include "ddl-workloads/step/step_context.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>

namespace ddl {

class Strategy {
 public:
    virtual ~Strategy() = default;

    // Called once, when the ranks have agreed on the model's parameters.
    virtual void attach(Model&) {}

    // Makes one step, from begin_step() to end_step().
    virtual void step(StepContext& context) = 0;

    // Called when the model resumed from a checkpoint; own_state: one of this strategy, with its options.
    virtual void resumed(bool /*own_state*/) {}

    // Collective. Called after the last step: may go_back(), and is then called again after more steps.
    virtual void check_state(StepContext&) {}

    // Collective. Called after the last step: stops activities that run between steps.
    virtual void finish() {}

    // On rank 0, after finish(): adds to the run record; a request of the user that was not met (exit code 3).
    virtual void describe(nlohmann::ordered_json& /*result*/) const {}
    virtual std::optional<std::string> broken_promise() const { return std::nullopt; }
};

}  // namespace ddl
