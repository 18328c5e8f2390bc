// SPDX-License-Identifier: Apache-2.0
// Section on GPUs: effects of the noise on them, if the training's archive has any.
#include "analysis/metrics/metric.hpp"
#include "analysis/results/findings.hpp"
#include "analysis/results/numbers.hpp"
#include "analysis/sections/section.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "trace-tools/gpu/analysis/gpu_table.hpp"

#include <algorithm>

namespace analysis {

namespace {

using base::join;

constexpr const char* effects_file = "gpu_effects.csv";

double mean_ms(const GpuWork& work, const base::LongColumn<std::size_t>& steps, std::size_t measure)
{
    double sum = 0.0;
    for (const std::size_t step : steps)
        sum += work.ms(static_cast<Eigen::Index>(step), static_cast<Eigen::Index>(measure));
    return steps.empty() ? 0.0 : sum / static_cast<double>(steps.size());
}

// Indices of the measures that, rounded to the shown digits, are not zero under every treatment.
std::vector<std::size_t> shown_measures(const Report& report)
{
    constexpr double least_ms = 0.0005;
    std::vector<std::size_t> shown;
    for (std::size_t m = 0; m < report.run.gpu.names.size(); ++m) {
        double most_ms = 0.0;
        for (std::size_t t = 0; t < report.run.plan.treatments.size(); ++t)
            most_ms = std::max(most_ms, mean_ms(report.run.gpu, steps_under(report, t), m));
        if (most_ms >= least_ms) shown.push_back(m);
    }
    return shown;
}

NoiseTable times_by_noise(const Report& report, const std::vector<std::size_t>& measures)
{
    const GpuWork& work = report.run.gpu;
    NoiseTable table{
        .title = "GPU",
        .head = {"Noise"},
        .rows = {},
        .note = join("Milliseconds per step, averaged over ", counted(work.devices.size(), "GPU"),
                     " and over the steps that lie mostly under this noise, without intervals. Computing and idle "
                     "time add up to the step, and the causes of idle time to the idle time. ",
                     absorption(report))};
    for (const std::size_t m : measures) table.head.push_back(metric_named(work.names[m]).title);
    const Experiment& plan = report.run.plan;
    for (std::size_t t = 0; t < plan.treatments.size(); ++t) {
        const base::LongColumn<std::size_t> steps = steps_under(report, t);
        NoiseTable::Row row = row_of(plan.treatments[t]);
        for (const std::size_t m : measures)
            row.cells.push_back({steps.empty() ? "–" : fixed(mean_ms(work, steps, m), 3), ""});
        table.rows.push_back(std::move(row));
    }
    return table;
}

NoiseTable effects_by_measure(const Report& report, const std::vector<std::size_t>& measures)
{
    NoiseTable table{.title = "Effects on the GPU",
                     .head = {"Noise"},
                     .rows = {},
                     .note = join("Percent of the mean quiet step, ± half of the ", 100.0 * report.verdict.confidence,
                                  " % interval; in ms: ", effects_file, ".")};
    const bool factorial = report.run.plan.design == Design::factorial;
    if (factorial) table.head.emplace_back("kind");
    const std::vector<std::string>& names = report.run.gpu.names;
    for (const std::size_t m : measures) table.head.push_back(metric_named(names[m]).title);
    for (const Effect& effect : of(report.analysis.effects, Family::step)) {
        if (effect.rank != all_ranks || effect.phase != "step") continue;
        NoiseTable::Row row{effect.factor, effect.level, factorial ? text(effect.kind) : "", {}};
        for (const std::size_t m : measures)
            row.cells.push_back(cell_of(find(report.analysis.effects, effect.factor, effect.level, effect.kind,
                                             names[m], all_ranks, Family::gpu),
                                        report.verdict.confidence));
        table.rows.push_back(std::move(row));
    }
    return table;
}

void write_gpu_effects(const std::filesystem::path& file, const Report& report)
{
    base::CsvWriter table{file,
                          {"factor", "level", "measure", "kind", "effect_percent", "low_percent", "high_percent",
                           "effect_ms", "low_ms", "high_ms", "p", "steps"}};
    const double ms = report.analysis.quiet_step_ms / 100.0;
    for (const Effect& effect : of(report.analysis.effects, Family::gpu)) {
        const Interval interval = effect.percent.interval(report.verdict.confidence);
        table.row(effect.factor, effect.level, effect.phase, text(effect.kind), effect.percent.value, interval.low,
                  interval.high, ms * effect.percent.value, ms * interval.low, ms * interval.high, effect.p,
                  effect.steps);
    }
}

void write_gpu_steps(const std::filesystem::path& file, const Report& report)
{
    const GpuWork& work = report.run.gpu;
    gpu::StepsTable steps{file};
    for (const gpu::GpuStep& row : work.rows) steps.row(row, work.devices[row.device]);
    steps.finish();
}

void read_gpus(Report& report, const SectionInput& input)
{
    if (input.archive == nullptr) return;
    read_or_note(report, "GPUs are",
                 [&] { report.run.gpu = read_gpu_work(*input.archive, input.steps, report.run.steps.numbers); });
}

std::vector<NoiseTable> gpu_tables(const Report& report)
{
    if (!report.run.gpu.known()) return {};
    const std::vector<std::size_t> measures = shown_measures(report);
    return {times_by_noise(report, measures), effects_by_measure(report, measures)};
}

}  // namespace

namespace section {

extern const Section gpu{
    .read = read_gpus,
    .tables = [](const Report& report) -> std::vector<Table> {
        if (!report.run.gpu.known()) return {};
        return {{effects_file, write_gpu_effects}, {gpu::steps_file, write_gpu_steps}};
    },
    .detail = gpu_tables,
};

}  // namespace section

}  // namespace analysis
