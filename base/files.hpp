// SPDX-License-Identifier: Apache-2.0
// Output that is never half there: finished files appear by rename, a run's parts are claimed once.
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

// Throws UsageError: what is to be written is already there. Nothing is overwritten.
[[noreturn]] void fail_taken(const std::filesystem::path& path);
void refuse_taken(const std::filesystem::path& path);  // fails if it is already there, also as a link to nothing

// Throws UsageError if it belongs to another user: what is to be done with it is run, or written, as this one.
void refuse_foreign(const std::filesystem::path& path);

// Throws UsageError if it is a link: another user may have chosen where this program writes.
void refuse_link(const std::filesystem::path& path);

// Renames, or fails with EEXIST (ENOTEMPTY) where the name is taken. Returns as rename() does. On file systems that
// cannot refuse, a file that another process has made since is replaced.
int rename_unless_taken(const std::filesystem::path& from, const std::filesystem::path& to);

// A program's own directory in a run. Until keep() it is taken away again in the end: after a failure at the start the
// same command can be given again.
class ClaimedPart {
 public:
    // Creates `run`/`part` (and the run's directory). Throws UsageError if the part is already there, for nothing is
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

// A directory that appears by rename, once it is whole. Until then it lies beside that name, and a program that fails
// takes it away again; what a killed one leaves there the next one removes.
class WholeDirectory {
 public:
    // Creates the directories above, too. Throws UsageError if the name is taken.
    explicit WholeDirectory(const std::filesystem::path& wanted);
    ~WholeDirectory();
    WholeDirectory(const WholeDirectory&) = delete;
    WholeDirectory& operator=(const WholeDirectory&) = delete;

    const std::filesystem::path& path() const { return beside_; }  // where to write until then
    void finish();                                                 // throws UsageError if the name was taken meanwhile

 private:
    std::filesystem::path wanted_;
    std::filesystem::path beside_;
    Descriptor lock_;  // held while this process writes
};

// A directory and those above it that were missing. Of these, those that are empty in the end are taken away again: a
// failure leaves nothing behind.
class MadeDirectories {
 public:
    // Nothing to make for an empty path. Throws std::filesystem::filesystem_error.
    explicit MadeDirectories(const std::filesystem::path& path);
    ~MadeDirectories();
    MadeDirectories(const MadeDirectories&) = delete;
    MadeDirectories& operator=(const MadeDirectories&) = delete;

 private:
    std::vector<std::filesystem::path> made_;  // the innermost first
};

// Removes a file, or a directory with all in it, and follows no link. As std::filesystem::remove_all(), but bounded: on
// FUSE and NFS a file that is still open comes back under another name however often it is removed. Missing is fine.
void remove_tree(const std::filesystem::path& path, std::error_code& code);
void remove_tree(const std::filesystem::path& path);  // throws std::system_error

// Renames a directory to a name that may be taken: at no moment is neither the old nor the new one there (on file
// systems that can swap two). The old one is removed.
void replace_directory(const std::filesystem::path& fresh, const std::filesystem::path& wanted);

// Writes beside the file and renames. Throws std::system_error; the old file stays if anything fails.
constexpr unsigned for_all = 0644;
constexpr unsigned for_this_user = 0600;  // arguments and environments may hold keys
void write_whole(const std::filesystem::path& path, std::string_view content, unsigned mode = for_all);

// Throws Error if the path is there, but as no regular file: a library that opens a pipe without a writer waits for
// ever.
void refuse_irregular(const std::filesystem::path& path);

// A file, or a pipe until its writer ends, such as a shell's <(..). Throws Error if it cannot be read, is a device,
// which need not end, a pipe that no process writes into, or longer than most_bytes.
std::string read_whole(const std::filesystem::path& path, std::uint64_t most_bytes = std::uint64_t{4} << 30U);

// The same piece by piece, however long it is.
void read_pieces(const std::filesystem::path& path, const std::function<void(std::string_view)>& with_piece);

}  // namespace base
