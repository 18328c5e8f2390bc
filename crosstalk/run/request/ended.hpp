// SPDX-License-Identifier: Apache-2.0
// A run that is over before its report.
#pragma once

#include <string>

namespace crosstalk {

// Thrown; status.json says why.
struct Ended {
    int code = 0;
    std::string reason;
};

}  // namespace crosstalk
