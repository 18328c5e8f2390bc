// SPDX-License-Identifier: Apache-2.0
// Role of a kernel of NCCL between ranks, by its name.
#pragma once

#include "trace-tools/otf2/definitions.hpp"

#include <string>

namespace gpu {

// Function, unless the kernel is one of NCCL's.
otf2::RegionRole kernel_role(const std::string& name);

}  // namespace gpu
