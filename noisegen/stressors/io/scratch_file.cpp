// SPDX-License-Identifier: Apache-2.0
#include "noisegen/stressors/io/scratch_file.hpp"

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/system/stop.hpp"
#include "noisegen/stressors/pages.hpp"

#include <algorithm>

#include <fcntl.h>
#include <unistd.h>

namespace noisegen {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t block = 4096;  // smallest direct transfer that all disks support

int open_unnamed(const fs::path& directory)
{
    const int file = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return file;
    // File systems without unnamed files (NFS, some parallel ones): create a named file and unlink it immediately.
    const fs::path path = directory / base::join(".noisegen.", ::getpid(), ".", std::random_device{}());
    const int named = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (named >= 0) ::unlink(path.c_str());
    return named;
}

void write_all(int file, const char* bytes, std::int64_t count, std::int64_t offset)
{
    while (count > 0) {
        const ssize_t written = base::check_errno(::pwrite(file, bytes, static_cast<std::size_t>(count), offset),
                                                  "write to the scratch file");
        bytes += written;
        count -= written;
        offset += written;
    }
}

}  // namespace

ScratchFile::ScratchFile(const fs::path& directory, std::int64_t size)
    : file_{base::check_errno(open_unnamed(directory), "create a scratch file in ", directory.string())}, size_{size}
{
    const int code = ::posix_fallocate(file_, 0, size);
    if (code == 0) return;
    throw std::system_error{code, std::generic_category(),
                            base::join("cannot reserve ", size, " bytes in ", directory.string())};
}

bool ScratchFile::bypass_cache()
{
    const int flags = ::fcntl(file_, F_GETFL);
    if (flags < 0 || ::fcntl(file_, F_SETFL, flags | O_DIRECT) != 0) return false;
    const Pages probe{block};
    if (::pwrite(file_, probe.data(), block, 0) == static_cast<ssize_t>(block)) return true;
    ::fcntl(file_, F_SETFL, flags);
    return false;
}

void ScratchFile::fill()
{
    constexpr std::int64_t portion = 1 << 20;
    constexpr std::int64_t synced = 32 * portion;  // bytes between syncs, so that a stop need not wait for more
    const Pages content{static_cast<std::size_t>(portion)};
    base::Random random{1};
    auto* words = static_cast<std::uint64_t*>(content.data());
    for (std::size_t i = 0; i < portion / sizeof(std::uint64_t); ++i) words[i] = random();
    for (std::int64_t at = 0; at < size_ && !base::stop_requested(); at += portion) {
        const std::int64_t bytes = std::min(portion, size_ - at);
        for (std::int64_t page = 0; page < bytes; page += block)
            words[static_cast<std::size_t>(page) / sizeof(std::uint64_t)] = static_cast<std::uint64_t>(at + page);
        write_all(file_, static_cast<const char*>(content.data()), bytes, at);
        if ((at + bytes) % synced == 0 || at + bytes == size_)
            base::check_errno(::fdatasync(file_), "write the scratch file to disk");
    }
    drop(0, size_);
}

void ScratchFile::drop(std::int64_t offset, std::int64_t bytes) const
{
    ::posix_fadvise(file_, offset, bytes, POSIX_FADV_DONTNEED);
}

}  // namespace noisegen
