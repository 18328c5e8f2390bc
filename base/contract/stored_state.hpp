// SPDX-License-Identifier: Apache-2.0
// Words for stored state by which programs that never meet understand each other: in options, in specs of campaigns, in
// tables of trials, in checkpoints.
#pragma once

#include <array>

// Weights that lie in memory whose bits flip.
namespace base::stored {

// How a weight's number stands in bits.
inline constexpr std::array codes{"fp32", "fp16", "bf16", "int8", "int4", "sign-magnitude", "gray", "offset"};

// Detectors of damaged weights.
inline constexpr std::array detections{"none", "parity", "range", "both"};

// How often weights are read: once, and what was read is trained on; or for each forward, and sound ones are.
inline constexpr const char* once = "once";
inline constexpr const char* each = "each";
inline constexpr std::array reads{once, each};

}  // namespace base::stored

// Names in checkpoints; checkpoint_format.hpp has the rest.
namespace base::checkpoint {

inline constexpr const char* index = "checkpoint.h5";
inline constexpr const char* shard_begin = "shard-";  // then its number
inline constexpr const char* shard_end = ".h5";
inline constexpr const char* meta = "meta";        // the group of attributes
inline constexpr const char* program = "program";  // .. two of them
inline constexpr const char* steps_per_epoch = "steps_per_epoch";
inline constexpr const char* checksum = "crc32c";  // attribute of a tensor

}  // namespace base::checkpoint
