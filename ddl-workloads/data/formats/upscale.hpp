// SPDX-License-Identifier: Apache-2.0
// Grey images of another size by bilinear interpolation.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ddl {

// `image` has height x width values, row-major; the result new_height x new_width. Pixels are areas, not points: the
// outermost new ones lie outside the outermost old ones and take their values (as OpenCV and LibTorch's
// align_corners=false).
std::vector<float> upscale(std::span<const float> image, std::int64_t height, std::int64_t width,
                           std::int64_t new_height, std::int64_t new_width);

}  // namespace ddl
