// SPDX-License-Identifier: Apache-2.0
// A directory of checkpoints: lists them, makes a new one appear complete or not at all, and removes old ones.
#pragma once

#include "base/units.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace ddl {

// Path of the checkpoint after `step` steps, and the path under which it is written.
std::filesystem::path checkpoint_path(const std::filesystem::path& directory, std::int64_t step);
std::filesystem::path growing_path(const std::filesystem::path& directory, std::int64_t step);

// The checkpoints with a final name, newest first. Empty if the directory does not exist.
std::vector<std::filesystem::path> checkpoints_in(const std::filesystem::path& directory);

// Creates the directory in which a checkpoint is written; several ranks may call it. Throws std::system_error, also if
// the file system has too little room for `bytes` and a reserve: a full disk would end the training.
void make_room(const std::filesystem::path& directory, std::int64_t step, std::int64_t bytes);

// Renames the complete new checkpoint into place. `durable`: the names are also on the device.
void publish(const std::filesystem::path& directory, std::int64_t step, bool durable);

// Removes the unfinished checkpoint.
void discard(const std::filesystem::path& directory, std::int64_t step) noexcept;

// Removes checkpoints of more than `step` steps, each atomically.
void discard_after(const std::filesystem::path& directory, std::int64_t step);

// Removes all but the newest `count` checkpoints, each atomically.
void keep_newest(const std::filesystem::path& directory, std::size_t count);

// The first of these checkpoints that is not damaged; the faults of those before it are reported on stderr. Throws
// Error if all are damaged.
std::filesystem::path first_sound(std::span<const std::filesystem::path> checkpoints);

}  // namespace ddl
