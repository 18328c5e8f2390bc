// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/data/loading/skipped_records.hpp"

#include "base/error.hpp"

namespace ddl {

void SkippedRecords::report(std::span<const std::string> faults)
{
    constexpr std::size_t enough = 10;
    for (const std::string& fault : faults) {
        ++count_;
        if (reported_.size() >= enough || !reported_.insert(fault).second) continue;
        base::warn("skipped: ", fault, reported_.size() == enough ? " (more are only counted)" : "");
    }
}

}  // namespace ddl
