// SPDX-License-Identifier: Apache-2.0
// Corrupt records that others stand in for: counted each time, reported once, and no more than ten of them.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>

namespace ddl {

class SkippedRecords {
 public:
    void report(std::span<const std::string> faults);
    std::int64_t count() const { return count_; }

 private:
    std::int64_t count_ = 0;
    std::set<std::string> reported_;
};

}  // namespace ddl
