// SPDX-License-Identifier: Apache-2.0
#include "soft-errors/stored/patches.hpp"

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "soft-errors/state/alteration_record.hpp"

#include <boost/endian/buffers.hpp>

#include <algorithm>
#include <cstring>
#include <map>
#include <span>

#include <fcntl.h>
#include <unistd.h>

namespace soft_errors {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view mark{undo_mark};

// Header of a patch in R.undo.
struct PatchHeader {
    boost::endian::little_uint32_buf_t file;
    boost::endian::little_uint32_buf_t size;
    boost::endian::little_uint64_buf_t at;
};
static_assert(sizeof(PatchHeader) == 16);

// Returns fewer bytes at the end of the file.
std::string read_at(int file, std::uint64_t at, std::size_t size, const fs::path& path)
{
    std::string bytes(size, '\0');
    std::size_t done = 0;
    while (done < size) {
        const ssize_t got = base::check_errno(
            ::pread(file, bytes.data() + done, size - done, static_cast<off_t>(at + done)), "read ", path.string());
        if (got == 0) break;
        done += static_cast<std::size_t>(got);
    }
    bytes.resize(done);
    return bytes;
}

void write_at(int file, std::uint64_t at, std::string_view bytes, const fs::path& path)
{
    while (!bytes.empty()) {
        const ssize_t written = base::check_errno(::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(at)),
                                                  "write ", path.string());
        bytes.remove_prefix(static_cast<std::size_t>(written));
        at += static_cast<std::uint64_t>(written);
    }
}

base::Descriptor open_to_change(const fs::path& path)
{
    return base::check_errno(::open(path.c_str(), O_RDWR | O_CLOEXEC), "open ", path.string());
}

// Applies the patches of a window with one read and one write.
void apply_to_file(std::span<const Patch> patches, int file, const fs::path& path)
{
    constexpr std::uint64_t window = 256 << 10U;
    constexpr std::ptrdiff_t many = 8;
    for (auto first = patches.begin(); first != patches.end();) {
        const auto fits = [&](const Patch& one) { return one.at >= first->at && one.end() <= first->at + window; };
        const auto last = std::find_if_not(first, patches.end(), fits);
        if (last - first < many) {
            write_at(file, first->at, first->after, path);
            ++first;
            continue;
        }
        std::uint64_t end = 0;
        for (auto one = first; one != last; ++one) end = std::max(end, one->end());
        std::string bytes = read_at(file, first->at, end - first->at, path);
        bytes.resize(end - first->at);
        for (auto one = first; one != last; ++one)
            std::copy(one->after.begin(), one->after.end(),
                      bytes.begin() + static_cast<std::ptrdiff_t>(one->at - first->at));
        write_at(file, first->at, bytes, path);
        first = last;
    }
}

}  // namespace

std::string packed_patches(const std::vector<Patch>& patches)
{
    std::string bytes{mark};
    for (const Patch& patch : patches) {
        PatchHeader header{};
        header.file = patch.file;
        header.size = static_cast<std::uint32_t>(patch.after.size());
        header.at = patch.at;
        bytes.append(reinterpret_cast<const char*>(&header), sizeof header);
        bytes += patch.before;
        bytes += patch.after;
    }
    return bytes;
}

std::vector<Patch> unpacked_patches(const std::string& content, const fs::path& source)
{
    std::string_view left{content};
    if (!left.starts_with(mark)) base::fail(source.string(), " does not contain the original bytes of an alteration");
    left.remove_prefix(mark.size());
    std::vector<Patch> patches;
    while (!left.empty()) {
        PatchHeader header{};
        if (left.size() < sizeof header) base::fail(source.string(), " is cut off");
        std::memcpy(&header, left.data(), sizeof header);
        left.remove_prefix(sizeof header);
        Patch patch;
        patch.file = header.file.value();
        patch.at = header.at.value();
        const std::uint64_t size = header.size.value();
        if (left.size() < 2 * size || patch.at > INT64_MAX - size) base::fail(source.string(), " is cut off");
        patch.before = left.substr(0, size);
        patch.after = left.substr(size, size);
        left.remove_prefix(2 * size);
        patches.push_back(std::move(patch));
    }
    return patches;
}

void cover_growth(std::vector<Patch>& patches, std::uint32_t file, std::uint64_t bytes)
{
    std::vector<Patch> all;
    std::uint64_t covered = bytes;
    for (Patch& patch : patches) {
        if (patch.file == file && patch.at > covered) {
            const std::string zeros(patch.at - covered, '\0');
            all.push_back({.file = file, .at = covered, .before = zeros, .after = zeros});
        }
        if (patch.file == file) covered = std::max(covered, patch.end());
        all.push_back(std::move(patch));
    }
    patches = std::move(all);
}

void refuse_unproven_cut(const std::vector<Patch>& patches, std::uint32_t file, std::uint64_t bytes,
                         std::uint64_t bytes_after, const fs::path& path)
{
    std::map<std::uint64_t, std::uint64_t> made;  // begin and end of zeros past the old end
    for (const Patch& patch : patches) {
        if (patch.file != file || patch.end() <= bytes) continue;
        const std::uint64_t from = std::max(patch.at, bytes);
        const std::string_view before = std::string_view{patch.before}.substr(from - patch.at);
        if (before.find_first_not_of('\0') == std::string_view::npos) made[from] = std::max(made[from], patch.end());
    }
    std::uint64_t covered = bytes;
    for (const auto& [begin, end] : made)
        if (begin <= covered) covered = std::max(covered, end);
    if (covered < bytes_after)
        base::fail(path.string(), " would be cut off at byte ", bytes,
                   ", but the record does not show that the alteration wrote the bytes after it");
}

void make_room(const std::vector<Patch>& patches, const std::vector<fs::path>& files)
{
    std::map<std::uint32_t, std::uint64_t> ends;
    for (const Patch& patch : patches) ends[patch.file] = std::max(ends[patch.file], patch.end());
    for (const auto& [number, end] : ends) {
        const fs::path& path = files.at(number);
        const std::uint64_t size = fs::file_size(path);
        if (end <= size) continue;
        const base::Descriptor file = open_to_change(path);
        const int why = ::posix_fallocate(file, static_cast<off_t>(size), static_cast<off_t>(end - size));
        if (why == 0) continue;
        fs::resize_file(path, size);
        throw std::system_error{why, std::generic_category(), "cannot make " + path.string() + " longer"};
    }
}

void apply_patches(const std::vector<Patch>& patches, const std::vector<fs::path>& files)
{
    const auto of_another = [](const Patch& left, const Patch& right) { return left.file != right.file; };
    for (auto first = patches.begin(); first != patches.end();) {
        auto last = std::adjacent_find(first, patches.end(), of_another);
        if (last != patches.end()) ++last;
        const fs::path& path = files.at(first->file);
        const base::Descriptor file = open_to_change(path);
        apply_to_file({first, last}, file, path);
        first = last;
    }
}

std::uint64_t undo(const std::vector<Patch>& patches, const std::vector<fs::path>& files)
{
    std::vector<base::Descriptor> opened;
    for (const fs::path& path : files) opened.push_back(open_to_change(path));
    std::uint64_t different = 0;
    for (const Patch& patch : patches) {
        const fs::path& path = files.at(patch.file);
        std::string found = read_at(opened[patch.file], patch.at, patch.after.size(), path);
        found.resize(patch.after.size());  // bytes beyond the end of the file count as zeros
        for (std::size_t i = 0; i < found.size(); ++i) {
            if (found[i] != patch.before[i] && found[i] != patch.after[i])
                base::fail(path.string(), " is not the file of the record: byte ", patch.at + i,
                           " has neither the value before nor after the alteration");
            different += found[i] != patch.before[i] ? 1 : 0;
        }
    }
    // In reverse order: where two patches overlap, the old bytes of the earlier one are right.
    for (auto patch = patches.rbegin(); patch != patches.rend(); ++patch)
        write_at(opened[patch->file], patch->at, patch->before, files[patch->file]);
    return different;
}

}  // namespace soft_errors
