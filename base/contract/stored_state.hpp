// SPDX-License-Identifier: Apache-2.0
// Names about stored state that several programs share: in options, campaign specs, tables of trials and checkpoints.
#pragma once

#include <array>

// Weights kept in memory whose bits flip.
namespace base::stored {

// Encodings of a weight in bits.
inline constexpr std::array codes{"fp32", "fp16", "bf16", "int8", "int4", "sign-magnitude", "gray", "offset"};

// Detectors of damaged weights.
inline constexpr std::array detections{"none", "parity", "range", "both"};

// When weights are read: once, and the values read are trained on; or before each forward pass, while training updates
// the sound weights.
inline constexpr const char* once = "once";
inline constexpr const char* each = "each";
inline constexpr std::array reads{once, each};

}  // namespace base::stored

// Names in checkpoints; checkpoint_format.hpp has the others.
namespace base::checkpoint {

inline constexpr const char* index = "checkpoint.h5";
inline constexpr const char* index_begin = "checkpoint";  // prefix of the extension
inline constexpr const char* shard_begin = "shard-";      // prefix of the shard's number
inline constexpr const char* shard_end = ".h5";
inline constexpr const char* raw_end = ".safetensors";  // the same for the formats raw and torch
inline constexpr const char* torch_end = ".pt";
inline constexpr const char* meta = "meta";        // group that holds the attributes
inline constexpr const char* program = "program";  // attributes of meta: this one and the next
inline constexpr const char* steps_per_epoch = "steps_per_epoch";
inline constexpr const char* checksum = "crc32c";  // attribute of a tensor

}  // namespace base::checkpoint
