// SPDX-License-Identifier: Apache-2.0
// Tables in DIR/train/ about the effects of soft errors on a training: names shared by the programs that write and read
// them. `trial` counts from 0 in a process that trains several times; otherwise it is 0.
#pragma once

#include <string>
#include <vector>

namespace base::soft_errors {

// Detections of guards: one row when a guard begins to find something in a tensor of a rank. `done` is the guard's
// reaction.
inline constexpr const char* guards = "guards.csv";
inline const std::vector<std::string> guard_columns{"trial", "step", "rank", "guard", "tensor", "what", "done"};

// Where ranks that should be equal began to differ. `rank` is empty if no state is shared by most ranks.
inline constexpr const char* divergence = "divergence.csv";
inline const std::vector<std::string> divergence_columns{"trial", "step", "rank", "bucket", "tensor"};

// Tensors that differ from those of an unaltered training after the same steps.
inline constexpr const char* propagation = "propagation.csv";
inline const std::vector<std::string> propagation_columns{"trial",     "step",        "rank",    "tensor",
                                                          "differing", "relative_l2", "largest", "not_finite"};

}  // namespace base::soft_errors
