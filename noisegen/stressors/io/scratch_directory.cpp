// SPDX-License-Identifier: Apache-2.0
#include "noisegen/stressors/io/scratch_directory.hpp"

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/system/launcher.hpp"
#include "noisegen/stressors/io/remove_tree.hpp"

#include <iomanip>
#include <random>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace noisegen {

namespace fs = std::filesystem;

namespace {

constexpr int open_directory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr mode_t only_mine = 0700;
constexpr std::size_t random_digits = 16;

std::string prefix()
{
    return ".noisegen." + base::host_name() + ".";
}

std::string new_name()
{
    std::random_device device;
    const std::uint64_t random = (std::uint64_t{device()} << 32U) | device();
    std::ostringstream name;
    name << prefix() << ::getpid() << "." << std::hex << std::setw(random_digits) << std::setfill('0') << random;
    return name.str();
}

bool only(std::string_view text, std::string_view characters)
{
    return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
}

// Has the name the form ".noisegen.<this host>.<digits>.<16 hexadecimal digits>"?
bool may_be_ours(const std::string& name)
{
    if (!name.starts_with(prefix())) return false;
    const std::string rest = name.substr(prefix().size());
    const std::size_t dot = rest.find('.');
    return dot != std::string::npos && only(rest.substr(0, dot), "0123456789") &&
           rest.size() == dot + 1 + random_digits && only(rest.substr(dot + 1), "0123456789abcdef");
}

// Was it made by a noisegen of this user that is dead, with its guardian?
bool is_stale(int tree)
{
    struct stat status {};
    return ::fstat(tree, &status) == 0 && status.st_uid == ::geteuid() && (status.st_mode & 07777U) == only_mine &&
           ::faccessat(tree, ScratchDirectory::mark, F_OK, AT_SYMLINK_NOFOLLOW) == 0 &&
           ::flock(tree, LOCK_EX | LOCK_NB) == 0;
}

std::vector<std::string> entries_that_may_be_ours(int directory)
{
    std::vector<std::string> found;
    base::Descriptor again = ::openat(directory, ".", open_directory);
    DIR* entries = again < 0 ? nullptr : ::fdopendir(again);
    if (entries == nullptr) return found;
    again.release();
    while (const dirent* entry = ::readdir(entries))
        if (may_be_ours(static_cast<const char*>(entry->d_name)))
            found.emplace_back(static_cast<const char*>(entry->d_name));
    ::closedir(entries);
    return found;
}

void remove_stale(int directory, const fs::path& path)
{
    for (const std::string& name : entries_that_may_be_ours(directory)) {
        const base::Descriptor tree = ::openat(directory, name.c_str(), open_directory);
        if (tree < 0) continue;
        if (is_stale(tree) && remove_tree(directory, name, tree, ScratchDirectory::mark))
            base::warn("removed ", (path / name).string(), ", left by a killed noisegen");
    }
}

}  // namespace

Folder::Folder(int parent, std::string name) : parent_{parent}, name_{std::move(name)}
{
    base::check_errno(::mkdirat(parent_, name_.c_str(), only_mine), "make a scratch directory");
    directory_ = ::openat(parent_, name_.c_str(), open_directory);
    if (directory_ >= 0) return;
    const int code = errno;
    ::unlinkat(parent_, name_.c_str(), AT_REMOVEDIR);
    throw std::system_error{code, std::generic_category(), "cannot open a scratch directory"};
}

Folder::~Folder()
{
    remove_tree(parent_, name_, directory_);
}

ScratchDirectory::ScratchDirectory(const fs::path& directory) : directory_{directory}
{
    parent_ =
        base::check_errno(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open ", directory.string());
    try {
        remove_stale(parent_, directory_);
        make();
        guardian_ = std::make_unique<Guardian>(Guardian::Duty::scratch, name_, std::vector<int>{parent_, tree_});
    } catch (...) {
        if (tree_ >= 0) remove_tree(parent_, name_, tree_, mark);
        throw;
    }
}

ScratchDirectory::~ScratchDirectory()
{
    if (!remove_tree(parent_, name_, tree_, mark)) base::warn("could not remove ", path());
}

// The mark is made after the lock: other processes lock only marked directories, so none can lock this one in between.
void ScratchDirectory::make()
{
    name_ = new_name();
    base::check_errno(::mkdirat(parent_, name_.c_str(), only_mine), "make a scratch directory in ",
                      directory_.string());
    tree_ = base::check_errno(::openat(parent_, name_.c_str(), open_directory), "open ", path());
    ::fchmod(tree_, only_mine);                          // overrides the umask and inherited rights
    if (::flock(tree_, LOCK_EX | LOCK_NB) != 0) return;  // without locks the directory stays unmarked
    const base::Descriptor file = ::openat(tree_, mark, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    base::check_errno(static_cast<int>(file), "make a file in ", path());
}

}  // namespace noisegen
