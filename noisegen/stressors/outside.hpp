// SPDX-License-Identifier: Apache-2.0
// Stressors built outside of this source tree: a shared library contains a card, and noisegen --load loads it.
//
// This header is installed, with all that it includes. Link crosstalk::stressor (find_package(crosstalk)), and end the
// card's file with CROSSTALK_STRESSOR(card), where `card` is the name of its variable.
#pragma once

#include "noisegen/stressors/stressor.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace noisegen {

// Data that noisegen reads before it uses the library's card, whose layout may change with every version.
struct OutsideStressor {
    const char* made_for;  // version of Crosstalk for which the library was built
    std::size_t bytes_of_card;
    std::size_t bytes_of_place;
    std::size_t bytes_of_work;
    const StressorCard* card;
};

inline constexpr const char* outside_symbol = "crosstalk_stressor";

// Environment variable with further libraries, separated by colons: for programs that start noisegen.
inline constexpr const char* outside_variable = "CROSSTALK_LOAD";

// Adds the stressors of these libraries to the registry; returns the libraries' full paths. Throws UsageError for a
// file that is no such library, was built for another version, or has a name that is taken.
std::vector<std::string> load_stressors(const std::vector<std::string>& files);

}  // namespace noisegen

#ifdef CROSSTALK_VERSION
#define CROSSTALK_STRESSOR(card)                                                                          \
    extern "C" __attribute__((visibility("default"))) const noisegen::OutsideStressor crosstalk_stressor{ \
        CROSSTALK_VERSION, sizeof(noisegen::StressorCard), sizeof(noisegen::Place), sizeof(noisegen::Work), &(card)};
#endif
