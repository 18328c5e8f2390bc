// SPDX-License-Identifier: Apache-2.0
// Makes sure that ranks which find each other through files in a directory belong to the same start of the job: an
// earlier start that was killed may have left its files there.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

namespace ddl {

// Each rank writes a random number. Rank 0 lists all numbers that it finds, and rewrites the list when one changes. A
// rank agrees once the list contains its own number. When all have agreed, rank 0 confirms the list.
class RollCall {
 public:
    // Waits for all ranks. Removes files of earlier starts from the directory. Throws Error after `patience`.
    RollCall(const std::filesystem::path& directory, int rank, int size, std::chrono::milliseconds patience);
    ~RollCall();  // removes this rank's files
    RollCall(const RollCall&) = delete;
    RollCall& operator=(const RollCall&) = delete;

    // Name of this start: the same on all ranks, different from every other start.
    const std::string& name() const { return name_; }

 private:
    bool call(int size);
    bool answer();
    void remove_earlier_starts() const;
    void clear() const;

    std::filesystem::path directory_;
    int rank_;
    std::string number_;
    std::string written_;  // last text that this rank wrote
    std::string name_;
};

}  // namespace ddl
