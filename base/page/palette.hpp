// SPDX-License-Identifier: Apache-2.0
// Colours that people with any colour vision can distinguish. Each family of stressors (memory, io, ..) has a fixed
// colour, so that the same noise has the same colour in all plots and reports, on a light and on a dark background.
#pragma once

#include <string>
#include <string_view>

namespace base::page {

struct Colour {
    std::string light;     // "#0072b2", for a light background; the plots' files use it
    std::string dark;      // colour for a dark background
    std::string variable;  // variable in the page's style sheet: "--memory-0"
};

// Colour of a stressor such as memory.stream. Stressors of one family in a report get its three shades in turn.
Colour colour(std::string_view stressor, std::size_t shade);

// Colour of a phase of a step. Phases that ddl-train does not have get colours in turn, by `number`, their position in
// the step.
Colour phase_colour(std::string_view phase, std::size_t number);

// CSS rules that set all colour variables.
std::string palette_css();

// Replaces the colours in an SVG by variables of the style sheet, so that they follow a dark background.
std::string with_variables(std::string_view svg);

}  // namespace base::page
