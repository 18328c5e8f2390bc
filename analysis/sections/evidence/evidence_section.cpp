// SPDX-License-Identifier: Apache-2.0
#include "analysis/sections/evidence/evidence_section.hpp"

#include "analysis/metrics/metric.hpp"
#include "analysis/results/numbers.hpp"
#include "analysis/sections/section.hpp"
#include "base/contract/os_table.hpp"
#include "base/contract/run_directory.hpp"
#include "base/contract/run_words.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace analysis {

const Effect* effect_on(const Report& report, const Effect& step, const std::string& cause)
{
    return find(report.analysis.effects, step.factor, step.level, step.kind, cause, all_ranks, Family::evidence);
}

double unexplained_of(const Report& report, const Effect& step)
{
    double rest = step.percent.value;
    for (const std::string& cause : report.run.evidence.names)
        if (const Effect* part = effect_on(report, step, cause)) rest -= part->percent.value;
    return rest;
}

std::vector<const Effect*> effects_on_step(const Report& report)
{
    std::vector<const Effect*> found;
    for (const Effect& effect : of(report.analysis.effects, Family::step))
        if (effect.rank == all_ranks && effect.phase == "step") found.push_back(&effect);
    return found;
}

namespace {

namespace fs = std::filesystem;
using base::join;

constexpr const char* effects_of_evidence = "evidence.csv";
constexpr const char* steps_evidence_file = "steps_evidence.csv";
constexpr const char* pressure_file = "pressure.csv";
constexpr const char* counters_file = "counters.csv";

void write_evidence(const fs::path& file, const Report& report)
{
    base::CsvWriter table{file,
                          {"factor", "level", "cause", "kind", "effect_ms", "low_ms", "high_ms", "effect_percent",
                           "low_percent", "high_percent", "p"}};
    const double ms = report.analysis.quiet_step_ms / 100.0;
    for (const Effect* step : effects_on_step(report)) {
        for (const std::string& cause : report.run.evidence.names) {
            const Effect* part = effect_on(report, *step, cause);
            if (part == nullptr) continue;
            const Interval interval = part->percent.interval(report.verdict.confidence);
            table.row(part->factor, part->level, cause, text(part->kind), ms * part->percent.value, ms * interval.low,
                      ms * interval.high, part->percent.value, interval.low, interval.high, part->p);
        }
        const double rest = unexplained_of(report, *step);
        table.row(step->factor, step->level, unexplained, text(step->kind), ms * rest, "", "", rest, "", "", "");
    }
}

void write_steps_evidence(const fs::path& file, const Report& report)
{
    base::CsvWriter table{file, {"rank", "step", "source", "cause", "by", "ms"}, base::CsvWriter::Appear::whole};
    for (const EvidenceRow& row : report.run.evidence.rows)
        table.row(row.rank, row.step, row.source, row.cause, row.by, row.ms);
    table.finish();
}

// The run's directory, above DIR/train/trace/traces.otf2 or DIR/train/steps.csv; empty if no directory above has
// evidence, or a request for it.
fs::path run_of(const fs::path& training)
{
    fs::path above = training.parent_path();
    for (int level = 0; level < 3; ++level, above = above.parent_path())
        if (fs::is_directory(above / base::os::folder) || fs::exists(above / base::file::request)) return above;
    return {};
}

// Adds a note if crosstalk run requested evidence and none was recorded.
void note_failure(Report& report, const fs::path& run)
{
    const fs::path request = run / base::file::request;
    if (fs::is_directory(run / base::os::folder) || !fs::exists(request)) return;
    const auto wanted = base::read_json(request).value("evidence", std::string{base::evidence_word::off});
    if (wanted != base::evidence_word::off)
        report.notes.emplace_back("no evidence of the operating system: trace-os did not record (log/trace-os.log)");
}

void read_os(Report& report, const SectionInput&)
{
    if (report.records.empty()) return;
    const Record& training = report.records.front();
    const fs::path run = run_of(training.archive);
    if (run.empty()) return;
    read_or_note(report, "evidence of the operating system is", [&] {
        note_failure(report, run);
        report.run.evidence = read_evidence(run, training.json, report.run.steps);
    });
}

}  // namespace

NoiseTable parts_of_slowdown(const Report& report)
{
    NoiseTable table{
        .title = "Time kept from running",
        .head = {"Noise", "step"},
        .rows = {},
        .note =
            join("Percent of the mean quiet step, ± half of the ", 100.0 * report.verdict.confidence,
                 " % interval: time in which main threads were ready and did not run, by cause. The "
                 "causes and what is unexplained add up to the step; slower execution (memory, "
                 "caches, clock rate) and waiting for other ranks are unexplained here. In ms: ",
                 effects_of_evidence,
                 report.run.evidence.rows.empty() ? "." : join("; by step and by task: ", steps_evidence_file, "."))};
    const bool factorial = report.run.plan.design == Design::factorial;
    if (factorial) table.head.insert(table.head.begin() + 1, "kind");
    for (const std::string& cause : report.run.evidence.names) table.head.push_back(metric_named(cause).title);
    table.head.emplace_back(unexplained);
    for (const Effect* step : effects_on_step(report)) {
        NoiseTable::Row row{step->factor, step->level, factorial ? text(step->kind) : "", {}};
        row.cells.push_back(cell_of(step, report.verdict.confidence));
        for (const std::string& cause : report.run.evidence.names)
            row.cells.push_back(cell_of(effect_on(report, *step, cause), report.verdict.confidence));
        row.cells.push_back({fixed(unexplained_of(report, *step), 2), ""});
        table.rows.push_back(std::move(row));
    }
    return table;
}

namespace section {

extern const Section evidence{
    .read = read_os,
    .tables = [](const Report& report) -> std::vector<Table> {
        if (!report.run.evidence.known()) return {};
        std::vector<Table> tables{{effects_of_evidence, write_evidence, true},
                                  {steps_evidence_file, write_steps_evidence}};
        if (!report.run.evidence.readings.empty()) tables.push_back({pressure_file, write_pressure});
        if (!report.run.evidence.counters.empty()) tables.push_back({counters_file, write_counters});
        return tables;
    },
    .below = [](const Report& report) -> std::vector<NoiseTable> {
        if (!report.run.evidence.known()) return {};
        std::vector<NoiseTable> tables{parts_of_slowdown(report)};
        if (!report.run.evidence.readings.empty()) tables.push_back(pressure_table(report));
        if (!report.run.evidence.counters.empty()) tables.push_back(counters_table(report));
        return tables;
    },
    .plots = [](const fs::path& folder, const Report& report) -> std::vector<Plot> {
        if (!report.run.evidence.known()) return {};
        return {draw_evidence(folder, report)};
    },
};

}  // namespace section

}  // namespace analysis
