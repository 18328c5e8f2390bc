// SPDX-License-Identifier: Apache-2.0
#include "soft-errors/stored/stored_file.hpp"

#include "base/contract/stored_state.hpp"
#include "base/error.hpp"
#include "base/files.hpp"

#include <algorithm>
#include <fstream>

namespace soft_errors {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view hdf5_signature{"\211HDF\r\n\032\n", 8};
constexpr std::string_view zip_signature{"PK\003\004", 4};

std::string bytes_at(std::ifstream& file, std::uint64_t at, std::size_t size)
{
    std::string bytes(size, '\0');
    file.clear();
    file.seekg(static_cast<std::streamoff>(at));
    file.read(bytes.data(), static_cast<std::streamsize>(size));
    bytes.resize(static_cast<std::size_t>(file.gcount()));
    return bytes;
}

[[noreturn]] void refuse(const fs::path& path, const char* format)
{
    base::fail(path.string(), " is ", format,
               ": only HDF5 can be altered; docs/soft-errors.md shows how to convert it");
}

// Throws Error for a file of another format, recognised by its first bytes.
void refuse_other_formats(const fs::path& path, const std::string& head)
{
    const std::string name = path.filename().string();
    if (head.starts_with("\200\002") || head.starts_with("\200\003") || head.starts_with("\200\004") ||
        head.starts_with("\200\005"))
        refuse(path, "a pickle");
    if (head.size() > 9 && head[8] == '{' && head[9] == '"') refuse(path, "a safetensors file");
    if (name.ends_with(".index") || name.find(".data-0") != std::string::npos)
        refuse(path, "part of a TensorFlow bundle");
    if (head.starts_with("\223NUMPY")) refuse(path, "a NumPy array");
}

// The signature is at offset 0, 512, 1024, 2048, ..; a user block precedes it.
bool has_hdf5_signature(std::ifstream& file, std::uint64_t size)
{
    constexpr std::uint64_t first = 512;
    for (std::uint64_t at = 0; at + hdf5_signature.size() <= size; at = std::max(first, 2 * at))
        if (bytes_at(file, at, hdf5_signature.size()) == hdf5_signature) return true;
    return false;
}

StoredFile keras_file(const fs::path& path)
{
    const std::vector<ZipMember> members = zip_members(path);
    const auto ends_with = [&](const char* end) {
        return std::ranges::find_if(members, [&](const ZipMember& one) { return one.name.ends_with(end); });
    };
    if (const auto weights = ends_with(".weights.h5"); weights != members.end())
        return {.path = path, .at = weights->at, .bytes = weights->bytes, .member = *weights};
    if (ends_with("data.pkl") != members.end()) refuse(path, "a PyTorch file, which holds pickles");
    if (ends_with(".npy") != members.end()) refuse(path, "an npz file");
    refuse(path, "a zip archive without model.weights.h5");
}

}  // namespace

StoredFile stored_file(const fs::path& path, const std::string& name)
{
    if (fs::is_directory(path)) {
        if (fs::exists(path / "saved_model.pb")) refuse(path, "a TensorFlow SavedModel");
        if (fs::exists(path / "checkpoint")) refuse(path, "a directory with a TensorFlow bundle");
        for (const char* end : {base::checkpoint::raw_end, base::checkpoint::torch_end})
            if (fs::exists(path / (std::string{base::checkpoint::index_begin} + end)))
                refuse(path, "a checkpoint in another format than hdf5");
        base::fail(path.string(), " is a directory without ", base::checkpoint::index,
                   ": not a checkpoint of ddl-train");
    }
    base::refuse_irregular(path);
    std::ifstream file{path, std::ios::binary};
    if (!file) base::fail("cannot open ", path.string());
    const std::uint64_t size = fs::file_size(path);
    constexpr std::size_t enough = 16;
    const std::string head = bytes_at(file, 0, enough);
    if (head.starts_with(zip_signature)) return keras_file(path);
    if (!has_hdf5_signature(file, size)) {
        refuse_other_formats(path, head);
        base::fail(path.string(), " is not an HDF5 file, or is cut off");
    }
    return {.path = path, .name = name, .at = 0, .bytes = size};
}

}  // namespace soft_errors
