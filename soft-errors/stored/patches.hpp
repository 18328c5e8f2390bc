// SPDX-License-Identifier: Apache-2.0
// Bytes that change in files: what an alteration does, and how it is undone.
#pragma once

#include "soft-errors/stored/stored_state.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace soft_errors {

struct Patch {
    std::uint32_t file = 0;   // its place among the state's
    std::uint64_t at = 0;     // from the file's begin
    std::string before = {};  // zeros where the file ended
    std::string after = {};   // as long

    std::uint64_t end() const { return at + after.size(); }
};

// The content of R.undo: for each patch its file, length (4 bytes each) and place (8 bytes), little-endian, then the
// bytes before and after.
std::string packed_patches(const std::vector<Patch>& patches);

// Throws Error that names `source` for what is no such content.
std::vector<Patch> unpacked_patches(const std::string& content, const std::filesystem::path& source);

// Adds the bytes behind the old end of a file that no patch holds, as zeros: undo() then knows all that the alteration
// made. The patches are in order.
void cover_growth(std::vector<Patch>& patches, std::uint32_t file, std::uint64_t bytes);

// Throws Error unless the patches say of each byte from `bytes` to `bytes_after` of that file that it was behind its
// end: what the alteration did not make must not be cut off.
void refuse_unproven_cut(const std::vector<Patch>& patches, std::uint32_t file, std::uint64_t bytes,
                         std::uint64_t bytes_after, const std::filesystem::path& path);

// Makes the files as long as they will be, so that there is room. Throws std::system_error; their size is then the old
// one.
void make_room(const std::vector<Patch>& patches, const std::vector<std::filesystem::path>& files);

// Writes what comes after. The patches of a file are in order. Throws std::system_error.
void apply_patches(const std::vector<Patch>& patches, const std::vector<std::filesystem::path>& files);

// Writes what was before, in each byte of which there is either: an alteration may have been killed. Throws Error, and
// changes nothing, if a file holds anything else. Returns how many bytes were not as before.
std::uint64_t undo(const std::vector<Patch>& patches, const std::vector<std::filesystem::path>& files);

}  // namespace soft_errors
