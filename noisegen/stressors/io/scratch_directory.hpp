// SPDX-License-Identifier: Apache-2.0
// A directory for the scratch files of one process, which is removed when the process ends, however it ends.
//
// Its name is .noisegen.<host>.<pid>.<random>. The process that made it removes it; if that process is killed, its
// guardian; if that is killed too (as when Slurm kills a job's cgroup), the next noisegen of the same user and host
// that uses the same place. Process and guardian hold a lock (flock) on the directory: a process that gets the lock
// knows that both are dead.
#pragma once

#include "base/descriptor.hpp"
#include "noisegen/stressors/guardian.hpp"

#include <filesystem>
#include <memory>
#include <string>

namespace noisegen {

// An open directory that this process made.
class Folder {
 public:
    // Makes it in the open directory `parent`. Throws std::system_error.
    Folder(int parent, std::string name);
    ~Folder();  // removes it with all its contents
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    int descriptor() const { return directory_; }

 private:
    int parent_;
    std::string name_;
    base::Descriptor directory_;
};

class ScratchDirectory {
 public:
    // Name of an empty file in the directory, made under the lock. Without it only the directory's process and guardian
    // remove the directory.
    static constexpr const char* mark = "made-by-noisegen";

    // Makes the directory in `directory`. First removes directories that killed noisegens left there, and reports this
    // on stderr. Throws std::system_error.
    explicit ScratchDirectory(const std::filesystem::path& directory);
    ~ScratchDirectory();
    ScratchDirectory(const ScratchDirectory&) = delete;
    ScratchDirectory& operator=(const ScratchDirectory&) = delete;

    int descriptor() const { return tree_; }
    std::string path() const { return (directory_ / name_).string(); }

 private:
    void make();

    std::filesystem::path directory_;
    std::string name_;
    base::Descriptor parent_;
    base::Descriptor tree_;
    std::unique_ptr<Guardian> guardian_;
};

}  // namespace noisegen
