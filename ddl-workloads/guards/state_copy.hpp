// SPDX-License-Identifier: Apache-2.0
// A copy of a rank's state in memory, for rollbacks and trials; it can be restored repeatedly.
#pragma once

#include "ddl-workloads/models/model.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace ddl {

class StateCopy {
 public:
    // Copies the model's state, including random numbers, into the memory of the previous copy.
    void keep(Model& model, std::int64_t steps_done);

    // Call between two steps, or before forward.
    void restore(Model& model) const;

    std::optional<std::int64_t> steps_done() const { return steps_done_; }  // none: there is no copy

 private:
    std::vector<std::vector<std::byte>> tensors_;
    std::optional<std::int64_t> steps_done_;
};

}  // namespace ddl
