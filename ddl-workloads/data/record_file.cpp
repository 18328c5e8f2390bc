#include "ddl-workloads/data/record_file.hpp"

#include "base/error.hpp"

#include <algorithm>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace ddl {

namespace {

constexpr std::size_t buffer_bytes = 1U << 20U;

void check_shape(const SampleShape& shape)
{
    if (std::min({shape.channels, shape.height, shape.width, shape.classes}) < 1 || shape.classes > 256)
        base::fail_usage("images of ", shape.channels, "x", shape.height, "x", shape.width, " in ", shape.classes,
                         " classes make no record file: each at least 1, at most 256 classes");
}

void check_label(const SampleShape& shape, std::uint8_t label, const std::filesystem::path& path, std::int64_t offset)
{
    if (label >= shape.classes)
        base::fail(path.string(), ", byte ", offset, ": label ", int{label}, " is no class, there are ", shape.classes);
}

}  // namespace

RecordFile::RecordFile(std::filesystem::path path, SampleShape shape) : path_{std::move(path)}, shape_{shape}
{
    check_shape(shape_);
    std::error_code code;
    if (std::filesystem::exists(path_, code) && !std::filesystem::is_regular_file(path_, code))
        base::fail(path_.string(), " is no regular file");
    file_ = base::check_errno(::open(path_.c_str(), O_RDONLY | O_CLOEXEC), "open ", path_.string());
    struct stat status = {};
    ::fstat(file_, &status);
    records_ = status.st_size / shape_.record_bytes();
    if (records_ > 0 && status.st_size % shape_.record_bytes() == 0) return;
    ::close(file_);
    base::fail(path_.string(), " is cut off or no record file: ", status.st_size,
               " bytes are not one or more records of ", shape_.record_bytes());
}

RecordFile::~RecordFile()
{
    ::close(file_);
}

void RecordFile::read(std::int64_t number, std::span<std::uint8_t> record) const
{
    const std::int64_t begin = number * shape_.record_bytes();
    std::int64_t at = begin;
    for (std::span<std::uint8_t> missing = record; !missing.empty();) {
        const ssize_t got = ::pread(file_, missing.data(), missing.size(), at);
        if (got < 0 && errno == EINTR) continue;
        base::check_errno(got, "read ", path_.string(), " at byte ", at);
        if (got == 0) base::fail(path_.string(), " ends at byte ", at, ", inside record ", number);
        missing = missing.subspan(static_cast<std::size_t>(got));
        at += got;
    }
    check_label(shape_, record[0], path_, begin);
    if (!uncached_) return;
    // The kernel drops whole pages only: those that the record shares with its neighbours go too.
    const std::int64_t page = ::sysconf(_SC_PAGESIZE);
    const std::int64_t first_page = begin / page;
    const std::int64_t end_page = (at + page - 1) / page;
    ::posix_fadvise(file_, first_page * page, (end_page - first_page) * page, POSIX_FADV_DONTNEED);
}

bool RecordFile::read_uncached()
{
    struct statfs system = {};
    base::check_errno(::fstatfs(file_, &system), "tell the file system of ", path_.string());
    if (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC) return false;
    base::check_errno(::fdatasync(file_), "write back ", path_.string());  // pages not yet written cannot be dropped
    ::posix_fadvise(file_, 0, 0, POSIX_FADV_RANDOM);
    ::posix_fadvise(file_, 0, 0, POSIX_FADV_DONTNEED);
    uncached_ = true;
    return true;
}

RecordFileWriter::RecordFileWriter(std::filesystem::path path, SampleShape shape)
    : path_{std::move(path)}, unfinished_{path_.string() + ".tmp" + std::to_string(::getpid())}, shape_{shape}
{
    check_shape(shape_);
    file_ = base::check_errno(::open(unfinished_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644), "create ",
                              unfinished_.string());
}

RecordFileWriter::~RecordFileWriter()
{
    if (file_ < 0) return;
    ::close(file_);
    ::unlink(unfinished_.c_str());
}

void RecordFileWriter::write(std::span<const std::uint8_t> record)
{
    if (static_cast<std::int64_t>(record.size()) != shape_.record_bytes())
        base::fail(path_.string(), ": a record of ", record.size(), " bytes instead of ", shape_.record_bytes());
    check_label(shape_, record[0], path_, records_ * shape_.record_bytes());
    ++records_;
    buffer_.insert(buffer_.end(), record.begin(), record.end());
    if (buffer_.size() >= buffer_bytes) flush();
}

void RecordFileWriter::finish()
{
    flush();
    base::check_errno(::fsync(file_), "write ", path_.string());
    base::check_errno(::rename(unfinished_.c_str(), path_.c_str()), "write ", path_.string());
    ::close(file_);
    file_ = -1;
}

void RecordFileWriter::flush()
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
