// SPDX-License-Identifier: Apache-2.0
// Section on noise levels: the work that each noise process recorded.

#include "analysis/results/record.hpp"
#include "analysis/sections/section.hpp"
#include "base/csv.hpp"

#include <nlohmann/json.hpp>

namespace analysis {

namespace {

// Columns: host,factor,level,stressor,slots,bytes_per_s,operations_per_s. One row per process and level.
void write_factor_levels(const std::filesystem::path& file, const Report& report)
{
    base::CsvWriter table{file, {"host", "factor", "level", "stressor", "slots", "bytes_per_s", "operations_per_s"}};
    for (const Record* record : noise_records(report))
        for (const nlohmann::ordered_json& level : list_in(record->json, "factor_levels"))
            table.row(word(record->json, "host"), word(level, "factor"), word(level, "level"), word(level, "stressor"),
                      number_in(level, "slots").value_or(0.0), dose_in(level, "bytes"), dose_in(level, "operations"));
}

}  // namespace

namespace section {

extern const Section levels{
    .tables = [](const Report&) -> std::vector<Table> {
        return {{"factor_levels.csv", write_factor_levels}};
    },
};

}  // namespace section

}  // namespace analysis
