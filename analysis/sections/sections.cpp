#include "analysis/sections/section.hpp"

namespace analysis {

namespace section {

extern const Section effects, harvest, response, carry_over, outliers, tails, decomposition, time, exposure, levels,
    waits, gpu, steps, sensitivity;

}  // namespace section

std::span<const Section* const> sections()
{
    static constexpr const Section* all[] = {
        &section::effects, &section::harvest,       &section::response, &section::carry_over,  &section::outliers,
        &section::tails,   &section::decomposition, &section::time,     &section::exposure,    &section::levels,
        &section::waits,   &section::gpu,           &section::steps,    &section::sensitivity,
    };
    return all;
}

}  // namespace analysis
