// SPDX-License-Identifier: Apache-2.0
// State that a training needs to resume as if it had never ended: named numbers in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ddl {

enum class ElementType { float32, float64, int32, int64, uint8 };

// The rank whose numbers count when the training resumes.
enum class Owner {
    any,    // all ranks hold the same: one of them is enough
    rank0,  // ranks may differ, and resume with rank 0's
    each    // each rank resumes with its own
};

// A view of the model's memory, to be read from and, before the first step, written to.
struct StateTensor {
    std::string path;  // in a checkpoint: "model/layers.0.weight", "optimizer/momentum/layers.0.weight"
    ElementType type = ElementType::float32;
    std::vector<std::int64_t> shape;  // empty: a single number
    std::span<std::byte> bytes;       // row by row
    Owner owner = Owner::any;
};

}  // namespace ddl
