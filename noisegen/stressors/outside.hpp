// SPDX-License-Identifier: Apache-2.0
// Stressors outside of this tree: a shared library holds a card like those in it, and noisegen --load finds it.
//
// This header is installed, with all that it includes. Link crosstalk::stressor (find_package(crosstalk)), and end the
// card's file with CROSSTALK_STRESSOR(its name).
#pragma once

#include "noisegen/stressors/stressor.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace noisegen {

// The members of the library that noisegen reads before it touches the card, whose layout may change with every
// version.
struct OutsideStressor {
    const char* made_for;  // version of Crosstalk
    std::size_t bytes_of_card;
    std::size_t bytes_of_place;
    std::size_t bytes_of_work;
    const StressorCard* card;
};

inline constexpr const char* outside_symbol = "crosstalk_stressor";

// Where words of --load also come from, between colons: for programs that start noisegen.
inline constexpr const char* outside_variable = "CROSSTALK_LOAD";

// Adds the stressors of these libraries to the registry; the files with their whole paths are returned. Throws
// UsageError for a file that is no such library, was made for another version, or has a name that is taken.
std::vector<std::string> load_stressors(const std::vector<std::string>& files);

}  // namespace noisegen

#ifdef CROSSTALK_VERSION
#define CROSSTALK_STRESSOR(card)                                                                          \
    extern "C" __attribute__((visibility("default"))) const noisegen::OutsideStressor crosstalk_stressor{ \
        CROSSTALK_VERSION, sizeof(noisegen::StressorCard), sizeof(noisegen::Place), sizeof(noisegen::Work), &(card)};
#endif
