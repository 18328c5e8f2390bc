// SPDX-License-Identifier: Apache-2.0
// Tables in DIR/train/ of what soft errors did to a training, by which programs that never meet understand each other.
// `trial` counts from 0 in a process that trains several times, and is 0 elsewhere.
#pragma once

#include <string>
#include <vector>

namespace base::soft_errors {

// Detections of guards: a row when a guard begins to find something in a tensor of a rank. `done`: the consequence.
inline constexpr const char* guards = "guards.csv";
inline const std::vector<std::string> guard_columns{"trial", "step", "rank", "guard", "tensor", "what", "done"};

// Where ranks that ought to be equal began to differ. `rank` is empty where no state is that of most ranks.
inline constexpr const char* divergence = "divergence.csv";
inline const std::vector<std::string> divergence_columns{"trial", "step", "rank", "bucket", "tensor"};

// Tensors that differ from those of an unaltered training of the same steps.
inline constexpr const char* propagation = "propagation.csv";
inline const std::vector<std::string> propagation_columns{"trial",     "step",        "rank",    "tensor",
                                                          "differing", "relative_l2", "largest", "not_finite"};

}  // namespace base::soft_errors
