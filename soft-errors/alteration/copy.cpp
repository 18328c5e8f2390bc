// SPDX-License-Identifier: Apache-2.0
#include "soft-errors/alteration/copy.hpp"

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/files.hpp"

#include <vector>

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace soft_errors {

namespace fs = std::filesystem;

namespace {

void copy_through_memory(int from, int to, const fs::path& path)
{
    std::vector<char> room(1 << 20U);
    while (true) {
        const ssize_t got = base::check_errno(::read(from, room.data(), room.size()), "read ", path.string());
        if (got == 0) return;
        for (ssize_t done = 0; done < got;)
            done += base::check_errno(::write(to, room.data() + done, static_cast<std::size_t>(got - done)), "copy ",
                                      path.string());
    }
}

void copy_one(const fs::path& from, const fs::path& to)
{
    constexpr std::size_t most = std::size_t{1} << 30U;
    base::refuse_irregular(from);
    const base::Descriptor source =
        base::check_errno(::open(from.c_str(), O_RDONLY | O_CLOEXEC), "open ", from.string());
    const base::Descriptor target =
        base::check_errno(::open(to.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644), "create ", to.string());
    if (::ioctl(target, FICLONE, static_cast<int>(source)) == 0) return;
    ssize_t copied = 0;
    while ((copied = ::copy_file_range(source, nullptr, target, nullptr, most, 0)) > 0) {
    }
    if (copied < 0) copy_through_memory(source, target, from);
}

}  // namespace

NewCopy::NewCopy(fs::path wanted) : wanted_{std::move(wanted)}
{
    if (!wanted_.has_filename()) wanted_ = wanted_.parent_path();
    base::refuse_taken(wanted_);
    beside_ = wanted_;
    beside_ += base::join(".", ::getpid(), ".tmp");
}

NewCopy::~NewCopy()
{
    std::error_code ignored;
    if (!beside_.empty()) base::remove_tree(beside_, ignored);
}

void NewCopy::fill(const fs::path& from) const
{
    if (!fs::is_directory(from)) return copy_one(from, beside_);
    // A directory that exists already belongs to another user, or is a link to a place that they chose.
    base::check_errno(::mkdir(beside_.c_str(), 0755), "create ", beside_.string());
    for (const fs::directory_entry& entry : fs::directory_iterator{from})
        copy_one(entry.path(), beside_ / entry.path().filename());
}

void NewCopy::finish()
{
    const int renamed = base::rename_unless_taken(beside_, wanted_);
    if (renamed < 0 && (errno == EEXIST || errno == ENOTEMPTY)) base::fail_taken(wanted_);
    base::check_errno(renamed, "create ", wanted_.string());
    beside_.clear();
}

}  // namespace soft_errors
