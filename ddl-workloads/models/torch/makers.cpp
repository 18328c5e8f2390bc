// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/models/torch_makers.hpp"

namespace ddl {

const TorchMakers crosstalk_torch_makers;

}  // namespace ddl
