// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/checkpoint/formats/offset_output.hpp"

#include "base/error.hpp"
#include "base/system/clock.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace ddl {

OffsetOutput::OffsetOutput(std::filesystem::path path)
    : path_{std::move(path)},
      file_{base::check_errno(::open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644), "create ",
                              path_.string())}
{
}

OffsetOutput::~OffsetOutput()
{
    if (file_ >= 0) ::close(file_);
}

std::int64_t OffsetOutput::finish(bool durable)
{
    const std::int64_t begin = base::now_ns();
    if (error_ == 0 && durable && ::fsync(file_) != 0) error_ = errno;
    const std::int64_t synced = durable ? base::now_ns() - begin : 0;
    // Some file systems report a full disk only at close().
    if (::close(std::exchange(file_, -1)) != 0 && error_ == 0) error_ = errno;
    if (error_ != 0) throw std::system_error{error_, std::generic_category(), "cannot write " + path_.string()};
    return synced;
}

void OffsetOutput::write(std::uint64_t at, std::span<const std::byte> bytes) noexcept
{
    size_ = std::max(size_, at + bytes.size());
    while (error_ == 0 && !bytes.empty()) {
        const ssize_t written = ::pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(at));
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) {
            error_ = written < 0 ? errno : EIO;
            return;
        }
        bytes = bytes.subspan(static_cast<std::size_t>(written));
        at += static_cast<std::uint64_t>(written);
    }
}

void OffsetOutput::read(std::uint64_t at, std::span<std::byte> room) const noexcept
{
    while (!room.empty()) {
        const ssize_t got = ::pread(file_, room.data(), room.size(), static_cast<off_t>(at));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        room = room.subspan(static_cast<std::size_t>(got));
        at += static_cast<std::uint64_t>(got);
    }
    std::fill(room.begin(), room.end(), std::byte{0});
}

void OffsetOutput::resize(std::uint64_t size) noexcept
{
    size_ = size;
    if (error_ == 0 && ::ftruncate(file_, static_cast<off_t>(size)) != 0) error_ = errno;
}

}  // namespace ddl
