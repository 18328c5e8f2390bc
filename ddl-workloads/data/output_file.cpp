// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/data/output_file.hpp"

#include "base/error.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace ddl {

namespace {

constexpr std::size_t buffer_bytes = 1U << 20U;

}  // namespace

OutputFile::OutputFile(std::filesystem::path path)
    : path_{std::move(path)}, unfinished_{path_.string() + ".tmp" + std::to_string(::getpid())}
{
    file_ = base::check_errno(::open(unfinished_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644), "create ",
                              unfinished_.string());
}

OutputFile::~OutputFile()
{
    if (file_ < 0) return;
    ::close(file_);
    ::unlink(unfinished_.c_str());
}

void OutputFile::write(std::span<const std::uint8_t> bytes)
{
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
    if (buffer_.size() >= buffer_bytes) flush();
}

void OutputFile::finish(std::span<const std::uint8_t> header)
{
    flush();
    const ssize_t wanted = std::ssize(header);
    if (base::check_errno(::pwrite(file_, header.data(), header.size(), 0), "write ", path_.string()) != wanted)
        base::fail("cannot write the header of ", path_.string());
    base::check_errno(::fsync(file_), "write ", path_.string());
    base::check_errno(::rename(unfinished_.c_str(), path_.c_str()), "write ", path_.string());
    ::close(file_);
    file_ = -1;
}

void OutputFile::flush()
{
    for (std::span<const std::uint8_t> left = buffer_; !left.empty();) {
        const ssize_t written = ::write(file_, left.data(), left.size());
        if (written < 0 && errno == EINTR) continue;
        base::check_errno(written, "write ", path_.string());
        left = left.subspan(static_cast<std::size_t>(written));
    }
    buffer_.clear();
}

}  // namespace ddl
