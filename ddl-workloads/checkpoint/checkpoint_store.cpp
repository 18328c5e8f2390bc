// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/checkpoint/checkpoint_store.hpp"

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/system/available.hpp"
#include "ddl-workloads/checkpoint/checkpoint_reader.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <string>

#include <fcntl.h>
#include <unistd.h>

namespace ddl {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t spare_bytes = 1 << 20;  // reserved for the training's other files and HDF5's own structures

const std::string prefix = "step-";

std::optional<std::int64_t> step_of(const fs::path& path)
{
    const std::string name = path.filename().string();
    if (!name.starts_with(prefix) || name.find_first_not_of("0123456789", prefix.size()) != std::string::npos ||
        name.size() == prefix.size() || name.size() > prefix.size() + 18)
        return std::nullopt;
    return std::stoll(name.substr(prefix.size()));
}

void sync_directory(const fs::path& path)
{
    const base::Descriptor file =
        base::check_errno(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open ", path.string());
    base::check_errno(::fsync(file), "write ", path.string(), " to the device");
}

void remove_quietly(const fs::path& path) noexcept
{
    std::error_code ignored;
    base::remove_tree(path, ignored);
}

void remove_whole(const fs::path& checkpoint)
{
    const fs::path going = checkpoint.string() + ".old";
    fs::rename(checkpoint, going);
    remove_quietly(going);
}

}  // namespace

fs::path checkpoint_path(const fs::path& directory, std::int64_t step)
{
    std::string digits = std::to_string(step);
    digits.insert(0, digits.size() < 9 ? 9 - digits.size() : 0, '0');
    return directory / (prefix + digits);
}

fs::path growing_path(const fs::path& directory, std::int64_t step)
{
    return checkpoint_path(directory, step).string() + ".tmp";
}

std::vector<fs::path> checkpoints_in(const fs::path& directory)
{
    std::vector<fs::path> all;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator{directory, none})
        if (step_of(entry.path())) all.push_back(entry.path());
    std::sort(all.begin(), all.end(), [](const fs::path& a, const fs::path& b) { return *step_of(a) > *step_of(b); });
    return all;
}

void make_room(const fs::path& directory, std::int64_t step, std::int64_t bytes)
{
    const fs::path path = growing_path(directory, step);
    fs::create_directories(path);
    if (base::free_disk(path).count < bytes + spare_bytes)
        throw std::system_error{ENOSPC, std::generic_category(),
                                base::join("cannot write ", base::format(base::Bytes{bytes}), " to ", path.string())};
}

void publish(const fs::path& directory, std::int64_t step, bool durable)
{
    const fs::path grown = growing_path(directory, step);
    if (durable) sync_directory(grown);
    fs::rename(grown, checkpoint_path(directory, step));
    if (durable) sync_directory(directory);
}

void discard(const fs::path& directory, std::int64_t step) noexcept
{
    remove_quietly(growing_path(directory, step));
}

void discard_after(const fs::path& directory, std::int64_t step)
{
    for (const fs::path& checkpoint : checkpoints_in(directory))
        if (*step_of(checkpoint) > step) remove_whole(checkpoint);
}

void keep_newest(const fs::path& directory, std::size_t count)
{
    const std::vector<fs::path> all = checkpoints_in(directory);
    for (std::size_t i = count; i < all.size(); ++i) remove_whole(all[i]);
}

fs::path first_sound(std::span<const fs::path> checkpoints)
{
    std::string why = "there is none";
    for (const fs::path& checkpoint : checkpoints) {
        try {
            CheckpointReader{checkpoint}.verify();
            return checkpoint;
        } catch (const std::exception& error) {
            why = error.what();
            if (&checkpoint != &checkpoints.back()) base::warn(why, "; trying the previous checkpoint");
        }
    }
    base::fail("no checkpoint to resume from: ", why);
}

}  // namespace ddl
