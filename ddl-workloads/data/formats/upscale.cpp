// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/data/formats/upscale.hpp"

#include <algorithm>

namespace ddl {

namespace {

// Position of a new pixel's centre among the old pixels: between `low` and `high`, at `share` of the distance.
struct Place {
    std::size_t low = 0;
    std::size_t high = 0;
    float share = 0.0F;
};

Place place(std::int64_t at, std::int64_t new_length, std::int64_t length)
{
    const float scale = static_cast<float>(length) / static_cast<float>(new_length);
    const float last = static_cast<float>(length - 1);
    const float centre = std::clamp((static_cast<float>(at) + 0.5F) * scale - 0.5F, 0.0F, last);
    const auto low = static_cast<std::size_t>(centre);
    return {low, std::min(low + 1, static_cast<std::size_t>(length - 1)), centre - static_cast<float>(low)};
}

}  // namespace

std::vector<float> upscale(std::span<const float> image, std::int64_t height, std::int64_t width,
                           std::int64_t new_height, std::int64_t new_width)
{
    std::vector<float> result;
    result.reserve(static_cast<std::size_t>(new_height * new_width));
    for (std::int64_t y = 0; y < new_height; ++y) {
        const Place row = place(y, new_height, height);
        for (std::int64_t x = 0; x < new_width; ++x) {
            const Place column = place(x, new_width, width);
            const auto along = [&](std::size_t line) {
                const float left = image[line * static_cast<std::size_t>(width) + column.low];
                const float right = image[line * static_cast<std::size_t>(width) + column.high];
                return left + (right - left) * column.share;
            };
            const float above = along(row.low);
            const float below = along(row.high);
            result.push_back(above + (below - above) * row.share);
        }
    }
    return result;
}

}  // namespace ddl
