// SPDX-License-Identifier: Apache-2.0
// Colours that people with any colour vision can distinguish, fixed by the family of a stressor (memory, io, ..): the
// same noise has the same colour in every plot and every report, on light and on dark ground.
#pragma once

#include <string>
#include <string_view>

namespace base::page {

struct Colour {
    std::string light;     // "#0072b2", on light ground; so it stands in the plots' files
    std::string dark;      // on dark ground
    std::string variable;  // of the page's style sheet: "--memory-0"
};

// Colour of a stressor such as memory.stream. Several of one family in one report have its three shades in turn.
Colour colour(std::string_view stressor, std::size_t shade);

// Colour of a phase of a step. Phases that ddl-train does not have take turns by their number in the step.
Colour phase_colour(std::string_view phase, std::size_t number);

// Rules for a style sheet that give all variables their values.
std::string palette_css();

// A drawing for the page, whose colours are variables of the style sheet, so that dark ground changes them.
std::string with_variables(std::string_view svg);

}  // namespace base::page
