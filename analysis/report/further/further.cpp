#include "analysis/report/further/further.hpp"

#include "analysis/estimate/secondary/tails.hpp"
#include "analysis/report/record.hpp"

#include <nlohmann/json.hpp>

namespace analysis {

namespace {

// What the noise processes say that they reached at each level, averaged over them.
Doses doses_on_record(const Report& report)
{
    Doses doses;
    std::map<std::pair<std::string, std::string>, double> processes;
    for (const Record* record : noise_records(report))
        for (const nlohmann::ordered_json& level : list_in(record->json, "factor_levels")) {
            const std::pair key{word(level, "factor"), word(level, "level")};
            Achieved& sum = doses[key];
            sum.bytes_per_s += dose_in(level, "bytes");
            sum.operations_per_s += dose_in(level, "operations");
            sum.duty += number_in(level, "duty").value_or(0.0);
            processes[key] += 1.0;
        }
    for (auto& [key, sum] : doses) {
        sum.bytes_per_s /= processes[key];
        sum.operations_per_s /= processes[key];
        sum.duty /= processes[key];
    }
    return doses;
}

}  // namespace

void add_curves(Report& report, const std::vector<RunOfCurve>& runs)
{
    const Verdict& verdict = report.verdict;
    report.secondary.curves =
        response_curves(runs, doses_on_record(report),
                        {verdict.budget_percent, verdict.confidence_each, verdict.looked, report.rules.draws.seed});
}

void add_further(Report& report)
{
    const std::uint64_t seed = report.rules.draws.seed;
    add_curves(report, {{{&report.run, &report.analysis}}});
    report.secondary.carry_over = report.analysis.carry_over;
    for (Effect& effect : tail_effects(report.run, report.analysis, seed))
        report.analysis.effects.push_back(std::move(effect));
}

}  // namespace analysis
