// SPDX-License-Identifier: Apache-2.0
// Section on the time table: each nanosecond of the training once, by treatment and reason.

#include "analysis/results/numbers.hpp"
#include "analysis/sections/section.hpp"
#include "analysis/sections/time/time_table.hpp"
#include "base/csv.hpp"

#include <algorithm>
#include <map>

namespace analysis {

namespace {

void estimate_time(Report& report, const SectionInput&)
{
    report.kept.of<std::vector<TimeRow>>() = time_table(report.run, report.analysis);
}

// Time of the first rank by treatment and reason; time.csv has all ranks.
std::vector<NoiseTable> time_by_treatment(const Report& report)
{
    const auto& time = report.kept.of<std::vector<TimeRow>>();
    if (time.empty()) return {};
    std::vector<std::string> reasons{"used"};
    std::vector<std::string> treatments;
    std::map<std::pair<std::string, std::string>, double> seconds;
    for (const TimeRow& row : time) {
        if (row.rank != time.front().rank) continue;
        if (std::find(reasons.begin(), reasons.end(), row.reason) == reasons.end()) reasons.push_back(row.reason);
        if (std::find(treatments.begin(), treatments.end(), row.treatment) == treatments.end())
            treatments.push_back(row.treatment);
        seconds[{row.treatment, row.reason}] += static_cast<double>(row.ns) / 1e9;
    }
    NoiseTable table{
        .title = "Where the training's time is",
        .head = {"Step begins under"},
        .rows = {},
        .note =
            "Seconds of the first rank; each nanosecond counts once (all ranks: time.csv). A row is the treatment in "
            "whose slot a step begins; a column says that the time is used in the estimate, or why it is not. The "
            "excess time of outliers is used for noises to which outliers are attributed."};
    for (const std::string& reason : reasons) table.head.push_back(reason);
    for (const std::string& treatment : treatments) {
        NoiseTable::Row row{.factor = treatment.empty() ? "no slot" : treatment, .level = "", .kind = "", .cells = {}};
        for (const std::string& reason : reasons) {
            const auto found = seconds.find({treatment, reason});
            row.cells.push_back({found == seconds.end() ? "–" : fixed(found->second, 2), ""});
        }
        table.rows.push_back(std::move(row));
    }
    return {table};
}

void write_time(const std::filesystem::path& file, const Report& report)
{
    base::CsvWriter table{file, {"rank", "treatment", "reason", "steps", "seconds", "share_percent"}};
    const auto& rows = report.kept.of<std::vector<TimeRow>>();
    for (const TimeRow& row : rows) {
        std::int64_t of_rank_ns = 0;
        for (const TimeRow& other : rows) of_rank_ns += other.rank == row.rank ? other.ns : 0;
        table.row(row.rank, row.treatment, row.reason, row.steps, fixed(static_cast<double>(row.ns) / 1e9, 9),
                  fixed(100.0 * static_cast<double>(row.ns) / static_cast<double>(of_rank_ns), 6));
    }
}

}  // namespace

namespace section {

extern const Section time{
    .estimate = estimate_time,
    .tables = [](const Report&) -> std::vector<Table> {
        return {{"time.csv", write_time}};
    },
    .detail = time_by_treatment,
};

}  // namespace section

}  // namespace analysis
