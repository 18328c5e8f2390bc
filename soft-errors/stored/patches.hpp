// SPDX-License-Identifier: Apache-2.0
// Patches: changes of bytes in files, to alter a state and to undo this.
#pragma once

#include "soft-errors/stored/stored_state.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace soft_errors {

struct Patch {
    std::uint32_t file = 0;   // index in the state's `files`
    std::uint64_t at = 0;     // offset from the file's start
    std::string before = {};  // old bytes; zeros beyond the file's end
    std::string after = {};   // new bytes, the same number

    std::uint64_t end() const { return at + after.size(); }
};

// The content of R.undo: for each patch its file and length (4 bytes each) and offset (8 bytes), little-endian, then
// the old and the new bytes.
std::string packed_patches(const std::vector<Patch>& patches);

// Throws Error, with the name `source`, for other content.
std::vector<Patch> unpacked_patches(const std::string& content, const std::filesystem::path& source);

// Adds zeros for the bytes past the old end of a file that no patch has, so that undo() knows all bytes that the
// alteration added. The patches are in order.
void cover_growth(std::vector<Patch>& patches, std::uint32_t file, std::uint64_t bytes);

// Throws Error unless the patches prove that each byte from `bytes` to `bytes_after` of the file was added by the
// alteration: other bytes must not be cut off.
void refuse_unproven_cut(const std::vector<Patch>& patches, std::uint32_t file, std::uint64_t bytes,
                         std::uint64_t bytes_after, const std::filesystem::path& path);

// Extends the files to their final size, so that later writes cannot lack space. Throws std::system_error, with the
// files at their old size.
void make_room(const std::vector<Patch>& patches, const std::vector<std::filesystem::path>& files);

// Writes the new bytes. The patches of a file are in order. Throws std::system_error.
void apply_patches(const std::vector<Patch>& patches, const std::vector<std::filesystem::path>& files);

// Writes the old bytes. Each byte may be old or new, because the alteration may have been killed. Throws Error, and
// changes nothing, if a file has any other byte. Returns the number of bytes that were not old.
std::uint64_t undo(const std::vector<Patch>& patches, const std::vector<std::filesystem::path>& files);

}  // namespace soft_errors
