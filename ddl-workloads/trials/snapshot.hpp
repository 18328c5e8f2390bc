// SPDX-License-Identifier: Apache-2.0
// A training's state in memory, which can be restored repeatedly.
#pragma once

#include "ddl-workloads/models/model.hpp"

#include <cstddef>
#include <vector>

namespace ddl {

class Snapshot {
 public:
    // Copies the model between two steps: parameters, statistics, the optimizer's state, random numbers.
    explicit Snapshot(Model& model);

    // Restores the state of the model from which the snapshot was taken.
    void restore(Model& model) const;

 private:
    std::vector<std::vector<std::byte>> tensors_;  // in the order of Model::state()
};

}  // namespace ddl
