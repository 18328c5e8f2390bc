// SPDX-License-Identifier: Apache-2.0
// Samples as a model takes them, and how they become that from the bytes of records.
#pragma once

#include "ddl-workloads/data/sample_shape.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ddl {

struct Batch {
    // Images: samples x channels x height x width, row-major, -1 (black) to 1 (white). Clicks: samples x dense.
    std::vector<float> images;
    std::vector<std::int64_t> labels;  // none of text
    std::vector<std::int64_t> tokens;  // text: samples x (length + 1) bytes; clicks: samples x categories ids
    std::int64_t samples = 0;
    std::vector<std::string> skipped;  // corrupt records that others stand in for: what is wrong with each
};

// How images are changed at random before a training sees them.
struct Augmentation {
    bool flip = false;  // every second one: left becomes right
    bool crop = false;  // moved by up to an eighth of height and width each way, black where nothing is left
    bool any() const { return flip || crop; }
};

// Whole records, one after the other. The same number gives the same changes.
Batch decode(const SampleShape& shape, std::span<const std::uint8_t> records, const Augmentation& augmentation = {},
             std::uint64_t seed = 0, std::uint64_t number = 0);

}  // namespace ddl
