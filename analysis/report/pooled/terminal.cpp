// SPDX-License-Identifier: Apache-2.0
// Prints a pooled report for a terminal.
#include "analysis/report/pooled/writers.hpp"
#include "analysis/report/writers/text.hpp"
#include "analysis/results/numbers.hpp"
#include "base/contract/factor_name.hpp"
#include "base/error.hpp"
#include "base/words.hpp"

namespace analysis {

namespace {

std::string name_of(const PooledEffect& effect)
{
    return base::factor_name(effect.effect.factor, effect.effect.level);
}

void print_runs(std::ostream& out, const PooledReport& report)
{
    for (const PooledEffect* pooled : step_effects(report)) {
        if (pooled->effect.role != base::Role::treatment) continue;
        std::vector<std::string> each;
        for (const Mean& one : report.of_runs() ? pooled->runs : pooled->parts)
            each.push_back(base::join(signed_percent(one.value), " ± ",
                                      fixed(one.interval(report.all.verdict.confidence).half_width(), 2)));
        out << name_of(*pooled) << ": " << base::join_words(each, ", ") << "; " << heterogeneity(report, *pooled)
            << "\n";
    }
}

void print_differences(std::ostream& out, const PooledReport& report)
{
    std::vector<std::string> differ;
    for (const Difference& difference : report.differences)
        if (difference.differs) differ.push_back(difference.property);
    if (!differ.empty()) out << "differed between them: " << base::join_words(differ, ", ") << "\n";
}

}  // namespace

void print(std::ostream& out, const PooledReport& report, const Content& all)
{
    print(out, all);
    out << "\n"
        << what_was_pooled(report) << ", "
        << "each with its own " << 100.0 * report.all.verdict.confidence << " % interval:\n";
    print_runs(out, report);
    print_differences(out, report);
}

}  // namespace analysis
