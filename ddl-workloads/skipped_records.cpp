#include "ddl-workloads/skipped_records.hpp"

#include "base/error.hpp"

#include <iostream>

namespace ddl {

void SkippedRecords::tell(std::span<const std::string> faults)
{
    constexpr std::size_t enough = 10;
    for (const std::string& fault : faults) {
        ++count_;
        if (told_.size() >= enough || !told_.insert(fault).second) continue;
        std::cerr << base::join("ddl-train: skipped: ", fault,
                                told_.size() == enough ? " (more are only counted)\n" : "\n");
    }
}

}  // namespace ddl
