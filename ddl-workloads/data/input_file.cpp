// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/data/input_file.hpp"

#include "base/files.hpp"

#include <algorithm>
#include <cstring>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace ddl {

namespace {

// Alignment of memory, offset and length that O_DIRECT accepts on every file system that supports it.
constexpr std::size_t block = 4096;

std::span<std::uint8_t> aligned_room(std::size_t bytes)
{
    thread_local std::vector<std::uint8_t> room;
    if (room.size() < bytes + block) room.resize(bytes + block);
    const std::size_t misplaced = reinterpret_cast<std::uintptr_t>(room.data()) % block;
    return std::span{room}.subspan(misplaced == 0 ? 0 : block - misplaced, bytes);
}

bool lives_in_memory(int file)
{
    struct statfs system = {};
    base::check_errno(::fstatfs(file, &system), "find the file system of the input");
    return system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC;
}

}  // namespace

InputFile::InputFile(std::filesystem::path path, Access access) : path_{std::move(path)}, access_{access}
{
    base::refuse_irregular(path_);
    const int direct = access_ == Access::direct ? O_DIRECT : 0;
    file_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | direct);
    if (file_ < 0 && errno == EINVAL && direct != 0)
        base::unavailable("the file system of ", path_.string(), " does not support O_DIRECT");
    base::check_errno(static_cast<int>(file_), "open ", path_.string());
    struct stat status = {};
    ::fstat(file_, &status);
    bytes_ = status.st_size;
    if (access_ == Access::buffered || lives_in_memory(file_)) return;
    past_page_cache_ = true;
    // Pages that are not yet written back cannot be dropped, so write them first. This fails for a read-only file,
    // which has no such pages of ours.
    ::fdatasync(file_);
    if (access_ == Access::uncached) ::posix_fadvise(file_, 0, 0, POSIX_FADV_RANDOM);
    ::posix_fadvise(file_, 0, 0, POSIX_FADV_DONTNEED);
}

std::size_t InputFile::read(std::int64_t at, std::span<std::uint8_t> room) const
{
    if (access_ == Access::direct) return read_direct(at, room);
    const std::size_t got = read_plainly(at, room);
    if (past_page_cache_) drop(at, at + static_cast<std::int64_t>(got));
    return got;
}

void InputFile::read_whole(std::int64_t at, std::span<std::uint8_t> room, const std::string& inside) const
{
    const std::size_t got = read(at, room);
    if (got == room.size()) return;
    throw CorruptRecord{
        base::join(path_.string(), " ends at byte ", at + static_cast<std::int64_t>(got), ", inside ", inside)};
}

std::size_t InputFile::read_plainly(std::int64_t at, std::span<std::uint8_t> room) const
{
    std::size_t got = 0;
    while (got < room.size()) {
        const std::int64_t from = at + static_cast<std::int64_t>(got);
        const ssize_t more = ::pread(file_, room.data() + got, room.size() - got, from);
        if (more < 0 && errno == EINTR) continue;
        base::check_errno(more, "read ", path_.string(), " at byte ", from);
        if (more == 0) break;
        got += static_cast<std::size_t>(more);
        // A direct read that ends inside a block has reached the end of the file.
        if (access_ == Access::direct && got % block != 0) break;
    }
    return got;
}

std::size_t InputFile::read_direct(std::int64_t at, std::span<std::uint8_t> room) const
{
    const auto size = static_cast<std::int64_t>(block);
    const std::int64_t first = at / size * size;
    const std::int64_t end = (at + static_cast<std::int64_t>(room.size()) + size - 1) / size * size;
    const std::span<std::uint8_t> blocks = aligned_room(static_cast<std::size_t>(end - first));
    const std::size_t got = read_plainly(first, blocks);
    const auto before = static_cast<std::size_t>(at - first);
    if (got <= before) return 0;
    const std::size_t ours = std::min(got - before, room.size());
    std::memcpy(room.data(), blocks.data() + before, ours);
    return ours;
}

// The kernel drops whole pages only, including the neighbouring bytes in the first and last page.
void InputFile::drop(std::int64_t begin, std::int64_t end) const
{
    const std::int64_t page = ::sysconf(_SC_PAGESIZE);
    const std::int64_t first = begin / page * page;
    ::posix_fadvise(file_, first, (end + page - 1) / page * page - first, POSIX_FADV_DONTNEED);
}

}  // namespace ddl
