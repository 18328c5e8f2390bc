// SPDX-License-Identifier: Apache-2.0
// Section on steps over time: the noise that was on, step times, phases.

#include "analysis/sections/section.hpp"

namespace analysis {

namespace section {

extern const Section steps{
    .plots = draw_steps,
};

}  // namespace section

}  // namespace analysis
