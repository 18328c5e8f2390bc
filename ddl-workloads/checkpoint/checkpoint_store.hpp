// SPDX-License-Identifier: Apache-2.0
// A directory of checkpoints: which are there, how one appears whole or not at all, how old ones go.
#pragma once

#include "base/units.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace ddl {

// Path of the checkpoint after `step` steps, and path under which it is written.
std::filesystem::path checkpoint_path(const std::filesystem::path& directory, std::int64_t step);
std::filesystem::path growing_path(const std::filesystem::path& directory, std::int64_t step);

// All that are whole by their name, that of most steps first. None if there is no such directory.
std::vector<std::filesystem::path> checkpoints_in(const std::filesystem::path& directory);

// Makes the directory in which a checkpoint can grow; several ranks may. Throws std::system_error, also if the file
// system has less room than these bytes and a little more: a disk filled to the brim would end the training.
void make_room(const std::filesystem::path& directory, std::int64_t step, std::int64_t bytes);

// Renames the complete new checkpoint into place. `durable`: the names too are on the device.
void publish(const std::filesystem::path& directory, std::int64_t step, bool durable);

// Takes away what has grown.
void discard(const std::filesystem::path& directory, std::int64_t step) noexcept;

// Takes those of more steps away. None vanishes piece by piece.
void discard_after(const std::filesystem::path& directory, std::int64_t step);

// Takes all but the newest away. None vanishes piece by piece.
void keep_newest(const std::filesystem::path& directory, std::size_t count);

// The first of the given checkpoints that is not damaged; reports on stderr what is wrong with those before. Throws
// Error if there is none.
std::filesystem::path first_sound(std::span<const std::filesystem::path> checkpoints);

}  // namespace ddl
