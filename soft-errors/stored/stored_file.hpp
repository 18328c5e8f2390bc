// SPDX-License-Identifier: Apache-2.0
// Finds the HDF5 data in files that hold a training's state: plain HDF5, HDF5 inside of a .keras file, a checkpoint of
// ddl-train with shards.
#pragma once

#include "soft-errors/stored/zip_member.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace soft_errors {

struct StoredFile {
    std::filesystem::path path = {};
    std::string name = {};    // within a checkpoint's directory; empty if the state is this single file
    std::uint64_t at = 0;     // offset at which the HDF5 data begins
    std::uint64_t bytes = 0;  // length of the HDF5 data
    std::optional<ZipMember> member = {};

    std::uint64_t whole_bytes() const { return member ? std::filesystem::file_size(path) : bytes; }
};

// Throws Error for other formats, with their name: npz, pickles, TensorFlow bundles, safetensors.
StoredFile stored_file(const std::filesystem::path& path, const std::string& name = {});

}  // namespace soft_errors
