// SPDX-License-Identifier: Apache-2.0
// Activities that a recording of GPUs reports as missing from its archive.
#pragma once

#include "trace-tools/otf2/archive.hpp"

#include <string>

namespace gpu {

// "6928150 of 7809702 activities of the GPUs of ddl-train are missing" of the first process that lacks more than a
// thousandth: what its GPUs did when is not known then. Empty: none does.
std::string missing_activities(const otf2::Archive& archive);

}  // namespace gpu
