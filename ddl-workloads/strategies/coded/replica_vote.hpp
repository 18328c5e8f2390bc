// SPDX-License-Identifier: Apache-2.0
// Compares what every rank computes alike; ranks that are outvoted adopt the values of the majority. Where ranks used
// different symbols (late=skip) they differ by rounding.
#pragma once

#include "ddl-workloads/models/model.hpp"
#include "ddl-workloads/transports/exchange_thread.hpp"

#include <span>
#include <vector>

namespace ddl {

struct Vote {
    bool decided = true;          // false: no values are those of more than half of the ranks; none were changed
    std::vector<int> outvoted{};  // ranks that had other values
};

// The state of a model with fully connected layers that every rank computes alike: all but the blocks, and the weights
// if only the blocks keep them (DenseProducts::keeps_weights()).
std::vector<StateTensor> replicas_of(Model& model);

// Collective. The tensors have the same shapes on all ranks.
Vote vote(std::span<const StateTensor> replicas, ExchangeThread& exchanges);

struct Adoption {
    bool decided = true;          // false: no rank agrees with more than half of the ranks; no values were changed
    std::vector<int> outvoted{};  // ranks whose values differed by more than the tolerance
    double drift = 0.0;           // largest difference of the other ranks
};

// Collective: all ranks adopt the values of the first rank with which more than half of the ranks agree. Differences
// are relative to the largest of all numbers in its tensors; whole numbers must be equal.
Adoption adopt(std::span<const StateTensor> replicas, double tolerance, ExchangeThread& exchanges);

// Collective: the largest of the ranks' numbers.
double largest_of_ranks(double mine, ExchangeThread& exchanges);

}  // namespace ddl
