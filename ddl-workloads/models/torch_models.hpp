// SPDX-License-Identifier: Apache-2.0
// Models computed by LibTorch. Loading LibTorch takes a third of a second, so it is loaded when the first of these
// models is made.
#pragma once

#include "ddl-workloads/models/model.hpp"

#include <vector>

namespace ddl {

// Empty if Crosstalk was built without Torch. Making a model throws Unavailable if the library crosstalk-torch, or a
// library that it needs, cannot be loaded.
std::vector<const ModelCard*> torch_models();

#ifdef CROSSTALK_DDL_TORCH
// The library's functions; loads it. Throws Unavailable as above.
struct TorchMakers;
const TorchMakers& torch_library();
#endif

}  // namespace ddl
