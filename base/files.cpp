// SPDX-License-Identifier: Apache-2.0
#include "base/files.hpp"

#include "base/error.hpp"
#include "base/units.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace base {

namespace fs = std::filesystem;

namespace {

std::vector<std::string> names_in(int directory)
{
    std::vector<std::string> names;
    Descriptor own = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);  // own read position
    DIR* const entries = own < 0 ? nullptr : ::fdopendir(own);
    if (entries == nullptr) return names;
    own.release();
    while (const dirent* const entry = ::readdir(entries))
        if (const std::string_view name = entry->d_name; name != "." && name != "..") names.emplace_back(name);
    ::closedir(entries);
    return names;
}

void empty(int directory, int depth)
{
    constexpr int rounds = 3;
    constexpr int deepest = 200;  // each level holds a descriptor open
    for (int round = 0; round < rounds; ++round) {
        const std::vector<std::string> names = names_in(directory);
        if (names.empty() || depth == deepest) return;
        for (const std::string& name : names) {
            if (::unlinkat(directory, name.c_str(), 0) == 0 || (errno != EISDIR && errno != EPERM)) continue;
            const Descriptor below = ::openat(directory, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            if (below < 0) continue;
            empty(below, depth + 1);
            ::unlinkat(directory, name.c_str(), AT_REMOVEDIR);
        }
    }
}

}  // namespace

void remove_tree(const fs::path& path, std::error_code& code)
{
    code.clear();
    if (::unlink(path.c_str()) == 0 || errno == ENOENT || errno == ENOTDIR) return;
    int why = errno;
    if (why == EISDIR || why == EPERM) {
        const Descriptor directory = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (directory >= 0) empty(directory, 0);
        why = ::rmdir(path.c_str()) == 0 || errno == ENOENT ? 0 : errno;
    }
    if (why != 0) code.assign(why, std::generic_category());
}

void remove_tree(const fs::path& path)
{
    std::error_code code;
    remove_tree(path, code);
    if (code) throw std::system_error{code, "cannot remove " + path.string()};
}

void fail_taken(const fs::path& path)
{
    fail_usage(path.string(), " is already there; give another path, or move it away");
}

void refuse_link(const fs::path& path)
{
    if (fs::is_symlink(fs::symlink_status(path)))
        fail_usage(path.string(),
                   " is a symbolic link, and links are not followed for writing: remove it, or give "
                   "another path");
}

void refuse_foreign(const fs::path& path)
{
    struct stat found {};
    if (::stat(path.c_str(), &found) == 0 && found.st_uid != ::geteuid())
        fail_usage(path.string(), " belongs to another user");
}

void refuse_taken(const fs::path& path)
{
    if (fs::exists(fs::symlink_status(path))) fail_taken(path);
}

ClaimedPart::ClaimedPart(const fs::path& run, const fs::path& part) : path_{run / part}
{
    for (fs::path folder = part.parent_path(); !folder.empty(); folder = folder.parent_path())
        refuse_link(run / folder);
    std::error_code code;
    fs::create_directories(path_.parent_path(), code);
    if (code) fail("cannot create ", path_.parent_path().string(), ": ", code.message());
    const bool created = fs::create_directory(path_, code);
    if (code) fail("cannot create ", path_.string(), ": ", code.message());
    if (!created) fail_taken(path_);
}

ClaimedPart::~ClaimedPart()
{
    std::error_code ignored;
    if (!kept_) remove_tree(path_, ignored);
}

namespace {

// Removes temporary directories next to `wanted` whose process was killed. A live process on another host holds the
// lock.
void remove_left_overs(const fs::path& wanted)
{
    const std::string begin = wanted.filename().string() + ".tmp";
    std::error_code code;
    for (const fs::directory_entry& entry : fs::directory_iterator{wanted.parent_path(), code}) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with(begin)) continue;
        pid_t process = 0;
        const char* const end = name.data() + name.size();
        const auto [rest, wrong] = std::from_chars(name.data() + begin.size(), end, process);
        if (wrong != std::errc{} || rest != end || process <= 0) continue;
        if (::kill(process, 0) == 0 || errno != ESRCH) continue;
        const Descriptor directory = ::open(entry.path().c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        struct stat found {};
        if (directory < 0 || ::fstat(directory, &found) != 0 || found.st_uid != ::geteuid()) continue;
        if (::flock(directory, LOCK_EX | LOCK_NB) == 0) remove_tree(entry.path(), code);
    }
}

}  // namespace

WholeDirectory::WholeDirectory(const fs::path& wanted)
    : wanted_{fs::absolute(wanted / "").lexically_normal().parent_path()},
      beside_{wanted_.string() + ".tmp" + std::to_string(::getpid())}
{
    if (fs::exists(fs::symlink_status(wanted_))) fail_taken(wanted);
    std::error_code code;
    fs::create_directories(wanted_.parent_path(), code);
    remove_tree(beside_, code);  // left by a dead process with the same PID
    remove_left_overs(wanted_);
    const bool created = fs::create_directory(beside_, code);
    if (code) fail("cannot create ", wanted_.string(), ": ", code.message());
    if (!created) fail_taken(beside_);  // another user's file, perhaps a link
    lock_ = ::open(beside_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (lock_ >= 0) ::flock(lock_, LOCK_EX | LOCK_NB);
}

WholeDirectory::~WholeDirectory()
{
    std::error_code ignored;
    if (!beside_.empty()) remove_tree(beside_, ignored);
}

int rename_unless_taken(const fs::path& from, const fs::path& to)
{
    const int code = ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE);
    return code < 0 && errno == EINVAL ? ::rename(from.c_str(), to.c_str()) : code;
}

void replace_directory(const fs::path& fresh, const fs::path& wanted)
{
    if (::renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, wanted.c_str(), RENAME_EXCHANGE) == 0) return remove_tree(fresh);
    if (errno != ENOENT) remove_tree(wanted);
    check_errno(::rename(fresh.c_str(), wanted.c_str()), "create ", wanted.string());
}

void WholeDirectory::finish()
{
    const int code = rename_unless_taken(beside_, wanted_);
    if (code < 0 && (errno == EEXIST || errno == ENOTEMPTY)) fail_taken(wanted_);
    check_errno(code, "create ", wanted_.string());
    beside_.clear();
}

MadeDirectories::MadeDirectories(const fs::path& path)
{
    for (fs::path missing = path; !missing.empty() && !fs::exists(missing); missing = missing.parent_path())
        made_.push_back(missing);
    if (!made_.empty()) fs::create_directories(path);
}

MadeDirectories::~MadeDirectories()
{
    std::error_code not_empty;
    for (const fs::path& directory : made_) fs::remove(directory, not_empty);
}

namespace {

struct Beside {
    fs::path path;
    Descriptor file{};
};

// In a directory that others can write to, a link planted under a predictable name would be followed.
Beside create_beside(const fs::path& path, unsigned mode)
{
    for (int tries = 1;; ++tries) {
        std::uint64_t number = 0;
        check_errno(::getrandom(&number, sizeof number, 0), "get a random number");
        Beside beside{.path = path.string() + ".tmp" + std::to_string(number)};
        beside.file = ::open(beside.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (beside.file < 0 && errno == EEXIST && tries < 100) continue;
        check_errno(static_cast<int>(beside.file), "create ", path.string());
        return beside;
    }
}

}  // namespace

void write_whole(const fs::path& path, std::string_view content, unsigned mode)
{
    auto [beside, file] = create_beside(path, mode);
    while (!content.empty()) {
        const ssize_t written = ::write(file, content.data(), content.size());
        if (written < 0) {
            const int why = errno;
            ::unlink(beside.c_str());
            throw std::system_error{why, std::generic_category(), "cannot write " + path.string()};
        }
        content.remove_prefix(static_cast<std::size_t>(written));
    }
    // Some file systems report a full disk only in close().
    if (file.close() != 0 || ::rename(beside.c_str(), path.c_str()) != 0) {
        const int why = errno;
        ::unlink(beside.c_str());
        throw std::system_error{why, std::generic_category(), "cannot write " + path.string()};
    }
}

void refuse_irregular(const fs::path& path)
{
    std::error_code missing;
    const fs::file_status found = fs::status(path, missing);
    if (fs::exists(found) && !fs::is_regular_file(found)) fail(path.string(), " is not a regular file");
}

namespace {

// Waits until data can be read or the last writer has closed the pipe.
void await_bytes(int file, int patience_ms)
{
    pollfd awaited{.fd = file, .events = POLLIN, .revents = 0};
    static_cast<void>(::poll(&awaited, 1, patience_ms));
}

}  // namespace

std::string read_whole(const fs::path& path, std::uint64_t most_bytes)
{
    const auto refuse_beyond = [&](std::uint64_t bytes) {
        if (bytes > most_bytes)
            fail(path.string(), " is longer than ", format(Bytes{static_cast<std::int64_t>(most_bytes)}));
    };
    struct stat found {};
    if (::stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode))
        refuse_beyond(static_cast<std::uint64_t>(found.st_size));
    std::string content;
    read_pieces(path, [&](std::string_view piece) {
        content += piece;
        refuse_beyond(content.size());
    });
    return content;
}

std::vector<std::string> lines_in(const fs::path& path, char end)
{
    std::ifstream file{path, std::ios::binary};
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line, end);) lines.push_back(std::move(line));
    return lines;
}

std::string first_line(const fs::path& path)
{
    std::string line;
    std::ifstream file{path};
    std::getline(file, line);
    return line;
}

void read_pieces(const fs::path& path, const std::function<void(std::string_view)>& with_piece)
{
    constexpr int patience_ms = 1'000;
    const Descriptor file =
        ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // so that a pipe without a writer does not block
    struct stat found {};
    if (file < 0 || ::fstat(file, &found) < 0 || S_ISDIR(found.st_mode)) fail("cannot read ", path.string());
    const bool pipe = S_ISFIFO(found.st_mode);
    if (!pipe && !S_ISREG(found.st_mode)) fail(path.string(), " is not a regular file");

    std::array<char, 64 << 10U> bytes;
    bool any = false;
    bool writer_may_come = pipe;
    while (true) {
        const ssize_t got = ::read(file, bytes.data(), bytes.size());
        if (got > 0) {
            any = true;
            with_piece({bytes.data(), static_cast<std::size_t>(got)});
        } else if (got < 0 && errno == EAGAIN) {
            await_bytes(file, -1);
        } else if (got == 0 && !any && std::exchange(writer_may_come, false)) {
            await_bytes(file, patience_ms);
        } else if (got == 0) {
            break;
        } else if (errno != EINTR) {
            fail("cannot read ", path.string());
        }
    }
    if (pipe && !any) fail("no process writes to the pipe ", path.string());
}

}  // namespace base
