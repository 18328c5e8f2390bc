// SPDX-License-Identifier: Apache-2.0
// The parts that a step works on, and the position of its training.
#pragma once

#include "ddl-workloads/data/loading/source.hpp"
#include "ddl-workloads/models/model.hpp"
#include "ddl-workloads/step/hook.hpp"
#include "ddl-workloads/transports/exchange_thread.hpp"

#include <cstdint>

namespace ddl {

// Why a training ends. A later one outweighs an earlier one.
enum class Stop : std::int64_t { no = 0, time_is_up = 1, loss = 2, accuracy = 3, guard = 4, signal = 5 };

struct StepState {
    std::int64_t first = 0;       // steps made before this run
    std::int64_t taken = 0;       // steps made, those of before and those that were taken back among them
    std::int64_t taken_back = 0;  // by a guard
    bool at_once = true;          // no evaluation or checkpoint since the last step: what was agreed in it still holds
    Stop request = Stop::no;      // why a hook of this rank wants the training to end
    Stop stop = Stop::no;         // what all ranks agree on: the same on all

    std::int64_t done() const { return taken - taken_back; }
};

struct StepContext {
    Model& model;
    Source& input;
    ExchangeThread& exchanges;
    PhaseClock& clock;
    Hooks& hooks;
    int passes = 1;  // of a step, whose gradients are exchanged once
    StepState state = {};
};

// Every step begins and ends with these, whatever a strategy does between.
void begin_step(StepContext& context);
void end_step(StepContext& context);

// Collective. The model's state is again that after `steps_done` steps: the input follows.
void go_back(StepContext& context, std::int64_t steps_done);

}  // namespace ddl
