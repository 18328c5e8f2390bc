// SPDX-License-Identifier: Apache-2.0
// Compares what every rank computes alike; ranks that are outvoted adopt the values of the majority.
#pragma once

#include "ddl-workloads/models/state_tensor.hpp"
#include "ddl-workloads/transports/exchange_thread.hpp"

#include <span>
#include <vector>

namespace ddl {

struct Vote {
    bool decided = true;          // false: no values are those of more than half of the ranks; none were changed
    std::vector<int> outvoted{};  // ranks that had other values
};

// Collective. The tensors have the same shapes on all ranks.
Vote vote(std::span<const StateTensor> replicas, ExchangeThread& exchanges);

}  // namespace ddl
