// SPDX-License-Identifier: Apache-2.0
// Samples in the form that models take, decoded from the bytes of records.
#pragma once

#include "ddl-workloads/data/sample_shape.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ddl {

struct Batch {
    // Images: samples x channels x height x width, row-major, -1 (black) to 1 (white). Clicks: samples x dense
    // features.
    std::vector<float> images;
    std::vector<std::int64_t> labels;  // empty for text
    std::vector<std::int64_t> tokens;  // text: samples x (length + 1) bytes; clicks: samples x categories ids
    std::int64_t samples = 0;
    std::vector<std::string> skipped;  // for each corrupt record that was replaced: what is wrong with it
};

// Random changes of images before they are used for training.
struct Augmentation {
    bool flip = false;  // mirrors half of the images horizontally
    bool crop = false;  // moves images by up to an eighth of height and width; uncovered pixels become black
    bool any() const { return flip || crop; }
};

// Decodes whole, consecutive records. Equal `seed` and `number` give equal random changes.
Batch decode(const SampleShape& shape, std::span<const std::uint8_t> records, const Augmentation& augmentation = {},
             std::uint64_t seed = 0, std::uint64_t number = 0);

}  // namespace ddl
