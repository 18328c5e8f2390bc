// What a run tells beside the effect on the mean step, which decides.
#pragma once

#include "analysis/estimate/carry_over.hpp"
#include "analysis/estimate/secondary/response.hpp"

#include <vector>

namespace analysis {

struct Secondary {
    std::vector<ResponseCurve> curves;
    std::vector<CarryOver> carry_over;
};

}  // namespace analysis
