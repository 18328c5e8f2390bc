#include "analysis/report/csv.hpp"

#include "analysis/report/numbers.hpp"
#include "base/csv.hpp"

#include <algorithm>

namespace analysis {

void write_effects(const std::filesystem::path& file, const Report& report)
{
    base::CsvWriter table{file,
                          {"factor", "level", "phase", "rank", "kind", "effect_percent", "low_percent", "high_percent",
                           "p_holm", "steps", "p", "blocks"}};
    for (const Effect& effect : report.analysis.effects) {
        const Interval interval = effect.percent.interval(report.verdict.confidence);
        table.row(effect.factor, effect.level, effect.phase,
                  effect.rank == all_ranks ? "all" : std::to_string(effect.rank), text(effect.kind),
                  effect.percent.value, interval.low, interval.high, effect.p_holm, effect.steps, effect.p,
                  report.analysis.blocks);
    }
}

void write_exposure(const std::filesystem::path& file, const Report& report)
{
    const std::vector<std::string> factors = factor_names(report.run.plan);
    std::vector<std::string> columns{"rank", "step", "block", "used", "reason"};
    columns.insert(columns.end(), factors.begin(), factors.end());
    base::CsvWriter table{file, columns};
    const Exposures& exposures = report.analysis.exposures;
    for (std::size_t r = 0; r < report.run.steps.ranks.size(); ++r) {
        for (std::size_t i = 0; i < report.run.steps.numbers.size(); ++i) {
            const LeftOut reason = exposures.left_out[i];
            std::vector<std::string> cells{std::to_string(report.run.steps.ranks[r].rank),
                                           std::to_string(report.run.steps.numbers[i]),
                                           exposures.block[i] < 0 ? "" : std::to_string(exposures.block[i]),
                                           reason == LeftOut::no ? "1" : "0", text(reason)};
            std::vector<double> shares(factors.size(), 0.0);
            for (const Overlap& overlap : exposures.ranks[r][i])
                for (const Assigned& on : report.run.plan.treatments[report.run.plan.treatment_of[overlap.chip]].on)
                    shares[static_cast<std::size_t>(std::find(factors.begin(), factors.end(), on.factor) -
                                                    factors.begin())] += overlap.share;
            for (const double share : shares) cells.push_back(fixed(std::min(1.0, share), 6));
            table.write(cells);
        }
    }
}

}  // namespace analysis
