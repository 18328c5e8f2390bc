// SPDX-License-Identifier: Apache-2.0
// The parts that a step uses, and the position in the training.
#pragma once

#include "ddl-workloads/data/loading/source.hpp"
#include "ddl-workloads/models/model.hpp"
#include "ddl-workloads/step/hook.hpp"
#include "ddl-workloads/transports/exchange_thread.hpp"

#include <cstdint>

namespace ddl {

// Why a training ends. A later value takes precedence over an earlier one.
enum class Stop : std::int64_t { no = 0, time_is_up = 1, loss = 2, accuracy = 3, guard = 4, signal = 5 };

struct StepState {
    std::int64_t first = 0;       // steps made before this run
    std::int64_t taken = 0;       // steps made in total, including undone steps and those of earlier runs
    std::int64_t taken_back = 0;  // steps undone by guards
    bool at_once = true;          // no evaluation or checkpoint since the last step, so its agreements still hold
    Stop request = Stop::no;      // reason why a hook of this rank wants to stop
    Stop stop = Stop::no;         // reason that all ranks agreed on

    std::int64_t done() const { return taken - taken_back; }
};

struct StepContext {
    Model& model;
    Source& input;
    ExchangeThread& exchanges;
    PhaseClock& clock;
    Hooks& hooks;
    int passes = 1;  // passes per step; gradients are exchanged once a step
    StepState state = {};
};

// Called at the start and at the end of every step, by every strategy.
void begin_step(StepContext& context);
void end_step(StepContext& context);

// Collective. Call when the model has been restored to its state after `steps_done` steps: repositions the input.
void go_back(StepContext& context, std::int64_t steps_done);

}  // namespace ddl
