// SPDX-License-Identifier: Apache-2.0
// Activities that a GPU recording reports as missing from its archive.
#pragma once

#include "trace-tools/otf2/archive.hpp"

#include <string>

namespace gpu {

// Returns a text such as "6928150 of 7809702 activities of the GPUs of ddl-train are missing" for the first process
// that lacks more than a thousandth; its GPU times are then unknown. Empty if there is none.
std::string missing_activities(const otf2::Archive& archive);

}  // namespace gpu
