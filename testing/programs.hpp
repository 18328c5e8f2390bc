// SPDX-License-Identifier: Apache-2.0
// Paths of the programs that tests run.
#pragma once

#include <filesystem>

namespace testing {

inline const std::filesystem::path bin = CROSSTALK_BIN;

}  // namespace testing
