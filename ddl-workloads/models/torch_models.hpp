// SPDX-License-Identifier: Apache-2.0
// Models that LibTorch computes. Loading LibTorch takes a third of a second, so it is loaded when the first of them is
// made.
#pragma once

#include "ddl-workloads/models/model.hpp"

#include <vector>

namespace ddl {

// None if Crosstalk was built without Torch. Making one throws Unavailable if the library crosstalk-torch, or one that
// it needs, cannot be loaded.
std::vector<const ModelCard*> torch_models();

}  // namespace ddl
