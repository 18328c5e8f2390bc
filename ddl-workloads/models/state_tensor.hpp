// SPDX-License-Identifier: Apache-2.0
// State that a training needs to resume as if it had never stopped: named tensors in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ddl {

// Prefix of the paths of a strategy's own state, which other strategies do not read.
inline constexpr const char* strategy_state = "code/";

enum class ElementType { float32, float64, int32, int64, uint8 };

// Which rank's copy of a tensor is restored when the training resumes.
enum class Owner {
    any,    // equal on all ranks: any copy will do
    rank0,  // ranks may differ, but all resume with rank 0's copy
    each    // each rank resumes with its own copy
};

// A view of the model's memory, read for checkpoints and written to before the first step.
struct StateTensor {
    std::string path;  // in a checkpoint: "model/layers.0.weight", "optimizer/momentum/layers.0.weight"
    ElementType type = ElementType::float32;
    std::vector<std::int64_t> shape;  // empty: a single number
    std::span<std::byte> bytes;       // in row-major order
    Owner owner = Owner::any;
};

}  // namespace ddl
