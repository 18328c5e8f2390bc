// SPDX-License-Identifier: Apache-2.0
#include "analysis/sections/section.hpp"

namespace analysis {

#define SECTION(name) extern const Section name;
namespace section {
#include "analysis/sections/sections.inc"
}
#undef SECTION

std::span<const Section* const> sections()
{
    static constexpr const Section* all[] = {
#define SECTION(name) &section::name,
#include "analysis/sections/sections.inc"
#undef SECTION
    };
    return all;
}

std::vector<MetricCard> metrics_of_sections()
{
    return of_sections(&Section::metrics);
}

}  // namespace analysis
