// SPDX-License-Identifier: Apache-2.0
// Resizes grey images by bilinear interpolation.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ddl {

// `image` has height x width values, row-major; the result has new_height x new_width. Pixels are areas, not points:
// new pixels whose centre is outside of the outermost old centres take the value of the nearest old pixel (as in OpenCV
// and LibTorch with align_corners=false).
std::vector<float> upscale(std::span<const float> image, std::int64_t height, std::int64_t width,
                           std::int64_t new_height, std::int64_t new_width);

}  // namespace ddl
