// Names in checkpoints by which programs that never meet understand each other; checkpoint_format.hpp has the rest.
#pragma once

namespace base::checkpoint {

inline constexpr const char* index = "checkpoint.h5";
inline constexpr const char* shard_begin = "shard-";  // then its number
inline constexpr const char* shard_end = ".h5";
inline constexpr const char* meta = "meta";        // the group of attributes
inline constexpr const char* program = "program";  // .. two of them
inline constexpr const char* steps_per_epoch = "steps_per_epoch";
inline constexpr const char* checksum = "crc32c";  // attribute of a tensor

}  // namespace base::checkpoint
