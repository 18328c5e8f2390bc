// SPDX-License-Identifier: Apache-2.0
// Section on exposure: the share of each step under each noise, and whether the step was used.

#include "analysis/results/numbers.hpp"
#include "analysis/sections/section.hpp"
#include "base/csv.hpp"

#include <algorithm>

namespace analysis {

namespace {

// Columns: rank,step,block,used,reason, then for each factor a share from 0 to 1.
void write_exposure(const std::filesystem::path& file, const Report& report)
{
    const std::vector<std::string> factors = factor_names(report.run.plan);
    std::vector<std::string> columns{"rank", "step", "block", "used", "reason"};
    columns.insert(columns.end(), factors.begin(), factors.end());
    base::CsvWriter table{file, columns};
    const Exposures& exposures = report.analysis.exposures;
    for (std::size_t r = 0; r < report.run.steps.ranks.size(); ++r) {
        for (std::size_t i = 0; i < report.run.steps.numbers.size(); ++i) {
            const LeftOut reason = reason_of(report, i);
            std::vector<std::string> cells{std::to_string(report.run.steps.ranks[r].rank),
                                           std::to_string(report.run.steps.numbers[i]),
                                           exposures.block[i] < 0 ? "" : std::to_string(exposures.block[i]),
                                           exposures.left_out[i] == LeftOut::no ? "1" : "0", text(reason)};
            std::vector<double> shares(factors.size(), 0.0);
            for (const Overlap& overlap : exposures.ranks[r][i])
                for (const Assigned& on : report.run.plan.treatments[report.run.plan.treatment_of[overlap.slot]].on)
                    shares[static_cast<std::size_t>(std::find(factors.begin(), factors.end(), on.factor) -
                                                    factors.begin())] += overlap.share;
            for (const double share : shares) cells.push_back(fixed(std::min(1.0, share), 6));
            table.write(cells);
        }
    }
}

}  // namespace

namespace section {

extern const Section exposure{
    .tables = [](const Report&) -> std::vector<Table> {
        return {{"exposure.csv", write_exposure}};
    },
};

}  // namespace section

}  // namespace analysis
