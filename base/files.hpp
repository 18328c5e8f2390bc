// SPDX-License-Identifier: Apache-2.0
// Files that are never seen half written: a finished file appears by rename, and a program claims its part of a run
// once.
#pragma once

#include "base/descriptor.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace base {

// Throws UsageError: the output path exists already, and nothing is overwritten.
[[noreturn]] void fail_taken(const std::filesystem::path& path);
void refuse_taken(const std::filesystem::path& path);  // calls fail_taken() if the path exists, even as a dangling link

// Throws UsageError if the path belongs to another user: files there would be run or written as the present user.
void refuse_foreign(const std::filesystem::path& path);

// Throws UsageError if the path is a link: another user may have chosen where this program would write.
void refuse_link(const std::filesystem::path& path);

// Renames, or fails with EEXIST (ENOTEMPTY) if the new name exists. Returns the same as rename(). On file systems that
// cannot refuse to overwrite, a file that another process created in the meantime is replaced.
int rename_unless_taken(const std::filesystem::path& from, const std::filesystem::path& to);

// A program's own directory in a run. The destructor removes it unless keep() was called, so that after a failure at
// the start the same command can be given again.
class ClaimedPart {
 public:
    // Creates `run`/`part` (and the run's directory). Throws UsageError if the part exists, since nothing is
    // overwritten, or if a folder between the two is a link.
    ClaimedPart(const std::filesystem::path& run, const std::filesystem::path& part);
    ~ClaimedPart();
    ClaimedPart(const ClaimedPart&) = delete;
    ClaimedPart& operator=(const ClaimedPart&) = delete;

    const std::filesystem::path& path() const { return path_; }
    void keep() { kept_ = true; }

 private:
    std::filesystem::path path_;
    bool kept_ = false;
};

// A directory that appears by rename once it is complete. Until then it has a temporary name in the same directory. If
// the program fails, the temporary directory is removed; if the program is killed, the next program removes it.
class WholeDirectory {
 public:
    // Also creates missing parent directories. Throws UsageError if the name exists.
    explicit WholeDirectory(const std::filesystem::path& wanted);
    ~WholeDirectory();
    WholeDirectory(const WholeDirectory&) = delete;
    WholeDirectory& operator=(const WholeDirectory&) = delete;

    const std::filesystem::path& path() const { return beside_; }  // write here until finish()
    void finish();                                                 // throws UsageError if the name exists by now

 private:
    std::filesystem::path wanted_;
    std::filesystem::path beside_;
    Descriptor lock_;  // file lock, held while this process writes
};

// Creates a directory and its missing parents. The destructor removes those of them that are empty then, so a failure
// leaves nothing behind.
class MadeDirectories {
 public:
    // Does nothing for an empty path. Throws std::filesystem::filesystem_error.
    explicit MadeDirectories(const std::filesystem::path& path);
    ~MadeDirectories();
    MadeDirectories(const MadeDirectories&) = delete;
    MadeDirectories& operator=(const MadeDirectories&) = delete;

 private:
    std::vector<std::filesystem::path> made_;  // directories that this object created, the innermost first
};

// Removes a file, or a directory with all its contents, without following links. Like std::filesystem::remove_all(),
// but bounded: on FUSE and NFS an open file reappears under another name each time it is removed. A missing path is no
// error.
void remove_tree(const std::filesystem::path& path, std::error_code& code);
void remove_tree(const std::filesystem::path& path);  // throws std::system_error

// Renames a directory to a name that may exist; the directory that had this name is removed. On file systems that can
// swap names, one of the two directories has the name at every moment.
void replace_directory(const std::filesystem::path& fresh, const std::filesystem::path& wanted);

// Writes to a temporary file in the same directory and renames it. Throws std::system_error; if anything fails, the old
// file stays.
constexpr unsigned for_all = 0644;
constexpr unsigned for_this_user = 0600;  // for arguments and environments, which may hold keys
void write_whole(const std::filesystem::path& path, std::string_view content, unsigned mode = for_all);

// Throws Error if the path exists but is not a regular file: a library that opens a pipe without a writer would wait
// forever.
void refuse_irregular(const std::filesystem::path& path);

// Reads a file, or a pipe until its writer ends, such as a shell's <(..). Throws Error if the path cannot be read, is a
// device (which need not end), is a pipe without a writer, or is longer than most_bytes.
std::string read_whole(const std::filesystem::path& path, std::uint64_t most_bytes = std::uint64_t{4} << 30U);

// The lines of a small text file, such as those in /proc, or its parts that end with another character. Empty if the
// file cannot be read.
std::vector<std::string> lines_in(const std::filesystem::path& path, char end = '\n');
std::string first_line(const std::filesystem::path& path);

// Reads like read_whole(), but piece by piece and without a limit on the length.
void read_pieces(const std::filesystem::path& path, const std::function<void(std::string_view)>& with_piece);

}  // namespace base
