// SPDX-License-Identifier: Apache-2.0
// Ranks that find each other through files in a directory first make sure that all of them are of the same start: an
// earlier one that was killed may have left its files there.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

namespace ddl {

// Each rank leaves a number that it has drawn. Rank 0 writes down all that it finds, again when one changes; a rank
// agrees once its own stands there; when all have agreed, rank 0 says so.
class RollCall {
 public:
    // Waits for all ranks. What earlier starts left in the directory is removed. Throws Error after `patience`.
    RollCall(const std::filesystem::path& directory, int rank, int size, std::chrono::milliseconds patience);
    ~RollCall();  // takes away this rank's files
    RollCall(const RollCall&) = delete;
    RollCall& operator=(const RollCall&) = delete;

    // The name of this start, the same for all ranks and no other start's.
    const std::string& name() const { return name_; }

 private:
    bool call(int size);
    bool answer();
    void remove_earlier_starts() const;
    void clear() const;

    std::filesystem::path directory_;
    int rank_;
    std::string number_;
    std::string written_;  // what this rank wrote last
    std::string name_;
};

}  // namespace ddl
