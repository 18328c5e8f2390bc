// SPDX-License-Identifier: Apache-2.0
#include "base/page/palette.hpp"

#include "base/contract/phases.hpp"
#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>

namespace base::page {

namespace {

using Rgb = std::array<int, 3>;

struct StressorFamily {
    std::string_view name;
    Rgb light;
    Rgb dark;
};

constexpr std::array families{
    StressorFamily{"memory", {0x00, 0x72, 0xb2}, {0x56, 0xb4, 0xe9}},
    StressorFamily{"cache", {0x7b, 0x3f, 0xa0}, {0xc4, 0x9a, 0xe8}},
    StressorFamily{"cpu", {0x7a, 0x70, 0x00}, {0xd2, 0xc6, 0x3c}},
    StressorFamily{"capacity", {0x8c, 0x51, 0x0a}, {0xd9, 0xa0, 0x66}},
    StressorFamily{"network", {0x00, 0x85, 0x5f}, {0x2f, 0xcf, 0x9f}},
    StressorFamily{"io", {0xc9, 0x6a, 0x00}, {0xff, 0xab, 0x40}},
    StressorFamily{"metadata", {0x00, 0x7f, 0x8c}, {0x4f, 0xd0, 0xdd}},
    StressorFamily{"gpu", {0x3f, 0x6b, 0x1f}, {0x8f, 0xcf, 0x60}},
    StressorFamily{"control", {0xb0, 0x30, 0x7a}, {0xf0, 0x7a, 0xb8}},
    StressorFamily{"placebo", {0x6b, 0x76, 0x85}, {0xa7, 0xb3, 0xc2}},
    StressorFamily{"other", {0x55, 0x55, 0x55}, {0xbb, 0xbb, 0xbb}},
};

struct Fixed {
    Rgb colour;  // the colour in the plots' scripts
    std::string_view variable;
};

constexpr std::array fixed_colours{
    Fixed{{0xd0, 0x30, 0x30}, "--alarm"}, Fixed{{0x80, 0x80, 0x80}, "--truth"}, Fixed{{0x60, 0x60, 0x60}, "--dot"},
    Fixed{{0xb0, 0xb0, 0xb0}, "--dim"},   Fixed{{0x70, 0x70, 0x70}, "--zero"},  Fixed{{0xa0, 0xa0, 0xa0}, "--grid"},
};

constexpr std::size_t shades = 3;

// The first shade is the family's colour, the second is lighter, the third darker.
Rgb shaded(Rgb colour, std::size_t shade)
{
    if (shade == 0) return colour;
    const double end = shade == 1 ? 255.0 : 0.0;
    const double nearer = shade == 1 ? 0.28 : 0.38;  // a lighter orange would not show on white
    for (int& part : colour) part = static_cast<int>(std::lround(part + nearer * (end - part)));
    return colour;
}

std::string hex(const Rgb& colour)
{
    char text[8];
    std::snprintf(text, sizeof text, "#%02x%02x%02x", static_cast<unsigned>(colour[0]) & 0xffU,
                  static_cast<unsigned>(colour[1]) & 0xffU, static_cast<unsigned>(colour[2]) & 0xffU);
    return text;
}

// Colours of phases whose names are not in phases.inc, for other programs.
constexpr std::array more_phases{
    StressorFamily{"a", {0xc2, 0x4d, 0x9a}, {0xf2, 0x94, 0xd0}},
    StressorFamily{"b", {0x1b, 0x99, 0x8b}, {0x5f, 0xdc, 0xcc}},
    StressorFamily{"c", {0x80, 0x78, 0x20}, {0xcf, 0xc4, 0x55}},
    StressorFamily{"d", {0x6a, 0x4c, 0x2e}, {0xc9, 0xa4, 0x7e}},
};

constexpr Rgb rgb(std::uint32_t colour)
{
    constexpr unsigned byte = 0xff;
    return {static_cast<int>(colour >> 16 & byte), static_cast<int>(colour >> 8 & byte),
            static_cast<int>(colour & byte)};
}

constexpr StressorFamily family_of(const PhaseCard& phase)
{
    return {phase.name, rgb(phase.colour), rgb(phase.colour_on_dark)};
}

Colour colour_of_phase(const StressorFamily& phase)
{
    return {hex(phase.light), hex(phase.dark), join("--phase-", phase.name)};
}

std::vector<StressorFamily> families_of_phases()
{
    std::vector<StressorFamily> all;
    for (const PhaseCard& phase : phase_cards) all.push_back(family_of(phase));
    all.insert(all.end(), more_phases.begin(), more_phases.end());
    return all;
}

const StressorFamily& family_of(std::string_view stressor)
{
    const std::string_view name = stressor.substr(0, stressor.find('.'));
    const auto* found = std::ranges::find_if(families, [&](const StressorFamily& f) { return f.name == name; });
    return found == families.end() ? families.back() : *found;
}

Colour colour_of(const StressorFamily& family, std::size_t shade)
{
    shade %= shades;
    return {hex(shaded(family.light, shade)), hex(shaded(family.dark, shade)), join("--", family.name, "-", shade)};
}

std::map<Rgb, std::string> variables()
{
    std::map<Rgb, std::string> all;
    for (const StressorFamily& family : families)
        for (std::size_t s = 0; s < shades; ++s) all[shaded(family.light, s)] = colour_of(family, s).variable;
    for (const StressorFamily& phase : families_of_phases()) all[phase.light] = colour_of_phase(phase).variable;
    for (const Fixed& one : fixed_colours) all[one.colour] = one.variable;
    return all;
}

}  // namespace

Colour colour(std::string_view stressor, std::size_t shade)
{
    return colour_of(family_of(stressor), shade);
}

Colour phase_colour(std::string_view phase, std::size_t number)
{
    const PhaseCard* const known = find_phase(phase);
    return colour_of_phase(known == nullptr ? more_phases[number % more_phases.size()] : family_of(*known));
}

std::string palette_css()
{
    std::string light;
    std::string dark;
    const auto add = [&](const Colour& one) {
        light += one.variable + ":" + one.light + ";";
        dark += one.variable + ":" + one.dark + ";";
    };
    for (const StressorFamily& phase : families_of_phases()) add(colour_of_phase(phase));
    for (const StressorFamily& family : families) {
        for (std::size_t s = 0; s < shades; ++s) add(colour_of(family, s));
    }
    return ":root{" + light + "}\n@media screen and (prefers-color-scheme: dark){:root{" + dark + "}}\n";
}

std::string with_variables(std::string_view svg)
{
    const std::map<Rgb, std::string> known = variables();
    std::string page;
    while (true) {
        const std::size_t begin = svg.find("rgb(");
        page += svg.substr(0, begin);
        if (begin == std::string_view::npos) return page;
        const std::size_t end = std::min(svg.find(')', begin), svg.size() - 1) + 1;
        const std::string text{svg.substr(begin, end - begin)};
        Rgb rgb{};
        const bool read = std::sscanf(text.c_str(), "rgb( %3d , %3d , %3d )", &rgb[0], &rgb[1], &rgb[2]) == 3;
        const auto found = read ? known.find(rgb) : known.end();
        page += found == known.end() ? text : "var(" + found->second + ")";
        svg.remove_prefix(end);
    }
}

}  // namespace base::page
