// SPDX-License-Identifier: Apache-2.0
// A run that ended before its report.
#pragma once

#include <string>

namespace crosstalk {

// Exception for such a run; status.json gives the reason.
struct Ended {
    int code = 0;
    std::string reason;
};

}  // namespace crosstalk
