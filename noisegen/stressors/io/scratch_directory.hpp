// SPDX-License-Identifier: Apache-2.0
// A directory for many scratch files: of this process alone, and gone when the process is, however that ends.
//
// Called .noisegen.<host>.<pid>.<random>. Removed by its maker; if that is killed, by the guardian; if that is killed
// too (as when Slurm kills a job's cgroup), by the next noisegen of the same user and host that uses the place. Its
// maker and the guardian hold a lock (flock) on it: who gets the lock knows that both are dead.
#pragma once

#include "base/descriptor.hpp"
#include "noisegen/stressors/guardian.hpp"

#include <filesystem>
#include <memory>
#include <string>

namespace noisegen {

// An open directory, made by us.
class Folder {
 public:
    // Makes it in the open directory `parent`. Throws std::system_error.
    Folder(int parent, std::string name);
    ~Folder();  // removes it with all that is in it
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
    // A file in it without content, made under the lock: a directory without it is removed only by its maker and
    // the guardian.
    static constexpr const char* mark = "made-by-noisegen";

    // Beneath `directory`. First removes what killed noisegens left there, and reports it on stderr. Throws
    // std::system_error.
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
