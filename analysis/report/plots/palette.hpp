// Colours that people with any colour vision tell apart (Okabe and Ito), one for each factor.
#pragma once

#include <array>
#include <cstddef>
#include <string>

namespace analysis {

// "#0072b2"; repeats after seven.
inline std::string colour(std::size_t factor)
{
    constexpr std::array<const char*, 7> colours{"#0072b2", "#e69f00", "#009e73", "#cc79a7",
                                                 "#56b4e9", "#d55e00", "#b8a900"};
    return colours[factor % colours.size()];
}

}  // namespace analysis
