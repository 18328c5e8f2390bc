// SPDX-License-Identifier: Apache-2.0
#include "soft-errors/alteration/file_locks.hpp"

#include "base/error.hpp"

#include <utility>

#include <fcntl.h>
#include <sys/file.h>

namespace soft_errors {

namespace fs = std::filesystem;

FileLocks::FileLocks(const fs::path& target, For what)
{
    if (fs::is_regular_file(target)) lock(target, what);
    if (!fs::is_directory(target)) return;
    for (const fs::directory_entry& entry : fs::directory_iterator{target})
        if (entry.is_regular_file()) lock(entry.path(), what);
}

void FileLocks::lock(const fs::path& file, For what)
{
    const bool changing = what == For::changing;
    base::Descriptor opened =
        base::check_errno(::open(file.c_str(), (changing ? O_RDWR : O_RDONLY) | O_CLOEXEC), "open ", file.string());
    const int code = ::flock(opened, (changing ? LOCK_EX : LOCK_SH) | LOCK_NB);
    if (code != 0 && errno == EWOULDBLOCK)
        base::fail(file.string(), " is in use: another program ", changing ? "has it open" : "changes it");
    locked_.push_back(std::move(opened));
}

}  // namespace soft_errors
