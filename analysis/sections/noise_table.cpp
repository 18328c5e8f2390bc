// SPDX-License-Identifier: Apache-2.0
#include "analysis/sections/noise_table.hpp"

#include "analysis/results/numbers.hpp"

#include <cmath>

namespace analysis {

NoiseTable::Cell cell_of(const Effect* effect, double confidence)
{
    if (effect == nullptr) return {"–", ""};
    const double half = effect->percent.interval(confidence).half_width();
    // A value that rounds to zero is shown as "0" without an interval.
    if (std::abs(effect->percent.value) + half < 0.005) return {.value = "0", .half = "", .zero = true};
    return {fixed(effect->percent.value, 2), fixed(half, 2)};
}

NoiseTable table_of_effects(const Report& report, const std::string& title, const std::vector<std::string>& columns,
                            const std::function<std::vector<NoiseTable::Cell>(const Effect&)>& cells)
{
    const bool factorial = report.run.plan.design == Design::factorial;
    NoiseTable table{.title = title, .head = {"Noise"}, .rows = {}, .note = ""};
    if (factorial) table.head.emplace_back("kind");
    table.head.insert(table.head.end(), columns.begin(), columns.end());
    for (const Effect& effect : of(report.analysis.effects, Family::step))
        if (effect.rank == all_ranks && effect.phase == "step")
            table.rows.push_back({effect.factor, effect.level, factorial ? text(effect.kind) : "", cells(effect)});
    return table;
}

NoiseTable::Row row_of(const Treatment& treatment)
{
    const std::vector<Assigned>& on = treatment.on;
    if (on.size() == 1) return {.factor = on.front().factor, .level = on.front().level, .kind = "", .cells = {}};
    return {.factor = treatment.name(), .level = "", .kind = "", .cells = {}};
}

base::LongColumn<std::size_t> steps_under(const Report& report, std::size_t treatment)
{
    const Exposures& exposures = report.analysis.exposures;
    base::LongColumn<std::size_t> steps;
    for (std::size_t i = 0; i < exposures.job.size(); ++i) {
        if (exposures.left_out[i] != LeftOut::no) continue;
        double share = 0.0;
        for (const Overlap& overlap : exposures.job[i])
            if (report.run.plan.treatment_of[overlap.slot] == treatment) share += overlap.share;
        if (share > 0.5) steps.push_back(i);
    }
    return steps;
}

}  // namespace analysis
