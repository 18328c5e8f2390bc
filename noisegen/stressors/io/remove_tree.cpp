// SPDX-License-Identifier: Apache-2.0
#include "noisegen/stressors/io/remove_tree.hpp"

#include "base/descriptor.hpp"

#include <cerrno>
#include <string_view>

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace noisegen {

namespace {

constexpr int deepest = 32;  // noisegen's directories are three levels deep

// Opens a subdirectory of `parent` on the same mount.
base::Descriptor open_below(int parent, const char* name)
{
    constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    open_how how{};
    how.flags = flags;
    how.resolve = RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH;
    const long file = ::syscall(SYS_openat2, parent, name, &how, sizeof how);
    if (file >= 0 || (errno != ENOSYS && errno != EPERM)) return static_cast<int>(file);
    // openat2 is missing (kernels before 5.6, some containers): a mount point is recognised by its device number.
    base::Descriptor plain = ::openat(parent, name, flags);
    struct stat above {};
    struct stat below {};
    if (plain >= 0 && ::fstat(parent, &above) == 0 && ::fstat(plain, &below) == 0 && above.st_dev == below.st_dev)
        return plain;
    return -1;
}

bool empty(int directory, int depth, std::string_view spared);

bool remove_entry(int directory, const char* name, int depth)
{
    if (::unlinkat(directory, name, 0) == 0) return true;
    if ((errno != EISDIR && errno != EPERM) || depth == deepest) return false;
    const base::Descriptor below = open_below(directory, name);
    if (below < 0) return false;
    empty(below, depth + 1, {});
    return ::unlinkat(directory, name, AT_REMOVEDIR) == 0;
}

// Removes the directory's entries except `spared`; returns false if another one is left.
bool empty(int directory, int depth, std::string_view spared)
{
    base::Descriptor again =
        ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);  // its read position is independent
    DIR* entries = again < 0 ? nullptr : ::fdopendir(again);
    if (entries == nullptr) return false;
    again.release();
    bool removed = true;
    bool left = false;
    while (removed) {  // a directory that changes while it is read may skip entries
        removed = false;
        left = false;
        ::rewinddir(entries);
        while (const dirent* entry = ::readdir(entries)) {
            const std::string_view name{static_cast<const char*>(entry->d_name)};
            if (name == "." || name == ".." || name == spared) continue;
            const bool gone = remove_entry(directory, name.data(), depth);
            removed = removed || gone;
            left = left || !gone;
        }
    }
    ::closedir(entries);
    return !left;
}

}  // namespace

bool names(int parent, const std::string& name, int tree) noexcept
{
    struct stat named {};
    struct stat opened {};
    return ::fstatat(parent, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 && ::fstat(tree, &opened) == 0 &&
           named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

bool remove_tree(int parent, const std::string& name, int tree, const std::string& last) noexcept
{
    if (!names(parent, name, tree)) return false;
    if (!empty(tree, 0, last)) return false;
    if (!last.empty()) ::unlinkat(tree, last.c_str(), 0);
    return ::unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0;
}

}  // namespace noisegen
