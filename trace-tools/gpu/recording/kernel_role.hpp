// SPDX-License-Identifier: Apache-2.0
// Role of a GPU kernel, from its name: NCCL kernels communicate between ranks.
#pragma once

#include "trace-tools/otf2/definitions.hpp"

#include <string>

namespace gpu {

// Role function, unless the kernel is NCCL's.
otf2::RegionRole kernel_role(const std::string& name);

}  // namespace gpu
