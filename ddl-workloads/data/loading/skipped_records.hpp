// SPDX-License-Identifier: Apache-2.0
// Corrupt records that were replaced: each occurrence is counted, each record is reported once, and at most ten
// records.
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
