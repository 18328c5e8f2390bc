// SPDX-License-Identifier: Apache-2.0
#include "analysis/report/writers/comparison_report.hpp"

#include "analysis/conclude/verdict.hpp"
#include "analysis/report/writers/html_text.hpp"
#include "analysis/report/writers/record_html.hpp"
#include "analysis/report/writers/text.hpp"
#include "analysis/results/numbers.hpp"
#include "analysis/results/plots/plots.hpp"
#include "analysis/results/record.hpp"
#include "analysis/sections/decomposition/decomposition_section.hpp"
#include "base/contract/run_directory.hpp"
#include "base/contract/run_record.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace analysis {

namespace {

using base::join;

const PhaseComparison& step_of(const ComparisonReport& report)
{
    return report.comparison.phases.front();
}

struct RunRow {
    std::string set;
    std::string run;
    double mean_step_ms = 0.0;
    std::string model;
    std::string host;
    std::string started;
};

std::vector<RunRow> run_rows(const ComparisonReport& report)
{
    std::vector<RunRow> rows;
    const auto add = [&](const char* set, const std::vector<ComparedRun>& runs, const std::vector<double>& means_ms) {
        for (std::size_t r = 0; r < runs.size(); ++r) {
            const nlohmann::ordered_json& record = runs[r].record.json;
            rows.push_back({set, runs[r].name, means_ms[r], word(object_in(record, "training"), "model"),
                            word(record, "host"), word(record, "started")});
        }
    };
    add("quiet", report.quiet, report.comparison.quiet_means_ms);
    add("noisy", report.noisy, report.comparison.noisy_means_ms);
    return rows;
}

std::string verdict_of(const ComparisonReport& report)
{
    return judge(step_of(report).interval, report.budget_percent);
}

std::vector<NamedDecomposition> made_of(const ComparisonReport& report)
{
    return {{"noisy", "", "", decomposition_of(report.comparison)}};
}

void write_tables(const std::filesystem::path& folder, const ComparisonReport& report)
{
    base::CsvWriter phases{
        folder / "compare.csv",
        {"phase", "effect_percent", "low_percent", "high_percent", "p_holm", "p_welch", "p_mann_whitney", "quiet_ms",
         "noisy_ms", "rank", "p_bh", "shift_percent", "floor_percent"}};
    for (const auto* table : {&report.comparison.phases, &report.comparison.by_rank})
        for (const PhaseComparison& row : *table)
            phases.row(row.phase, row.percent, row.interval.low, row.interval.high, row.p_holm, row.p_welch,
                       row.p_mann_whitney, row.quiet_ms, row.noisy_ms,
                       row.rank == all_ranks ? "all" : std::to_string(row.rank), row.p_bh, row.shift_percent,
                       row.floor_percent);
    base::CsvWriter scores{folder / "resilience.csv",
                           {"phase", "contribution", "deviation_quiet_percent", "deviation_noisy_percent",
                            "susceptibility", "resilience", "place"}};
    for (const Resilience& phase : report.comparison.resilience)
        scores.row(phase.phase, phase.contribution, phase.deviation_quiet_percent, phase.deviation_noisy_percent,
                   phase.susceptibility ? base::format(*phase.susceptibility) : "",
                   phase.resilience ? base::format(*phase.resilience) : "",
                   phase.place > 0 ? std::to_string(phase.place) : "");
    for (const DecompositionTable& table : decomposition_tables()) table.write(folder / table.file, made_of(report));
    base::CsvWriter runs{folder / "runs.csv", {"set", "run", "mean_step_ms", "model", "host", "started"}};
    for (const RunRow& run : run_rows(report))
        runs.row(run.set, run.run, run.mean_step_ms, run.model, run.host, run.started);
    base::CsvWriter steps{folder / "aligned_steps.csv", {"step", "quiet_ms", "noisy_ms"}};
    for (std::size_t i = 0; i < report.comparison.numbers.size(); ++i)
        steps.row(report.comparison.numbers[i], report.comparison.quiet_by_step_ms[i],
                  report.comparison.noisy_by_step_ms[i]);
}

nlohmann::ordered_json json_of(const ComparisonReport& report)
{
    const PhaseComparison& step = step_of(report);
    nlohmann::ordered_json json;
    json["format"] = base::format_version;
    json["verdict"] = verdict_of(report);
    json["budget_percent"] = report.budget_percent;
    json["effect_percent"] = step.percent;
    json["low_percent"] = step.interval.low;
    json["high_percent"] = step.interval.high;
    json["p_welch"] = step.p_welch;
    json["p_mann_whitney"] = step.p_mann_whitney;
    json["floor_percent"] = report.comparison.floor_percent;
    json["quiet_step_ms"] = step.quiet_ms;
    json["quiet_runs"] = report.quiet.size();
    json["noisy_runs"] = report.noisy.size();
    json["steps_aligned"] = report.comparison.numbers.size();
    json["aligned_by"] = report.comparison.aligned_by;
    json["p_holm"] = step.p_holm;
    json["shift_percent"] = step.shift_percent;
    json["decomposition"] = json_of(decomposition_of(report.comparison));
    return json;
}

// A row of the parts' table as HTML, with the part's name before each value.
std::string parts_html(const NoiseTable& parts)
{
    std::vector<std::vector<Cell>> rows;
    for (const NoiseTable::Row& row : parts.rows)
        for (std::size_t c = 0; c < row.cells.size(); ++c) {
            const NoiseTable::Cell& cell = row.cells[c];
            rows.push_back(
                {words(parts.head[c + 1]), words(cell.value), words(cell.half.empty() ? "" : "± " + cell.half)});
        }
    return table({"", "percent of the step", ""}, rows);
}

std::string phase_table(const ComparisonReport& report)
{
    std::vector<std::vector<Cell>> rows;
    for (const PhaseComparison& phase : report.comparison.phases)
        rows.push_back({words(phase.phase), number(signed_percent(phase.percent)), number(range(phase.interval)),
                        number(fixed(phase.quiet_ms, 3)), number(fixed(phase.noisy_ms, 3)),
                        number(p_value(phase.p_holm)), number(p_value(phase.p_mann_whitney))});
    return dense(
        table({"Phase", "effect", "interval", "quiet, ms", "noisy, ms", "p (Welch, Holm)", "p (Mann–Whitney)"}, rows));
}

std::string resilience_section(const ComparisonReport& report)
{
    std::vector<std::vector<Cell>> rows;
    for (const Resilience& phase : report.comparison.resilience)
        rows.push_back({words(phase.phase), number(fixed(phase.deviation_quiet_percent, 2)),
                        number(fixed(phase.deviation_noisy_percent, 2)),
                        number(phase.susceptibility ? fixed(*phase.susceptibility, 1) : ""),
                        number(phase.resilience ? fixed(*phase.resilience, 2) : ""),
                        number(phase.place > 0 ? std::to_string(phase.place) : "")});
    return dense(table({"Phase", "deviation quiet, %", "noisy, %", "susceptibility", "resilience", "place"}, rows)) +
           R"(<p class="small">Deviation: of the runs from their mean. Susceptibility: difference of the means over the
deviation of both sets. Resilience: from 0 to 1, against the other phases (<a
href="resilience.csv">resilience.csv</a>).</p>)";
}

std::string runs_section(const ComparisonReport& report)
{
    std::vector<std::vector<Cell>> rows;
    for (const RunRow& run : run_rows(report))
        rows.push_back({words(run.set), words(run.run), number(fixed(run.mean_step_ms, 3)), words(run.model),
                        words(run.host), words(run.started)});
    std::string notes;
    for (const std::string& note : report.notes) notes += fill("<p class=\"small\">{}</p>\n", {escape(note)});
    return dense(table({"Set", "Run", "mean step, ms", "Model", "Host", "Started"}, rows)) + notes +
           "<h3>Compared by</h3>\n" + facts_table(report.own_record);
}

std::string answer_of(const ComparisonReport& report, const std::string& plot)
{
    const PhaseComparison& step = step_of(report);
    return fill(
        R"(<p class="answer"><span class="big">{}</span> <span class="unit">({})</span> {} against a budget of {}</p>
{}<p class="small">Quiet runs compared with each other, as many on each side, would differ by up to {}: these
runs cannot show a smaller effect. The run is the unit, so more runs make the interval narrower, but more steps in a run
do not. The report assumes that the runs differ only in the noise.</p>
)",
        {signed_percent(step.percent), range(step.interval), badge(verdict_of(report)),
         join(report.budget_percent, " %"), plot, percent(report.comparison.floor_percent)});
}

std::string html_of(const ComparisonReport& report, const std::filesystem::path& folder, const std::vector<Plot>& plots)
{
    const PhaseComparison& step = step_of(report);
    const NoiseTable parts = table_of(made_of(report));
    const std::string reason = join(reading(decomposition_of(report.comparison)), ". ", parts.note);
    return base::page::html_of(
        {.title = "Crosstalk comparison",
         .description = join("Noisy against quiet runs: ", verdict_of(report), ", ", signed_percent(step.percent),
                             " of the quiet step"),
         .headline = "Quiet runs against noisy runs",
         .subtitle = join(report.quiet.size(), " quiet and ", report.noisy.size(), " noisy runs, ",
                          report.comparison.numbers.size(), " steps in each"),
         .answer = answer_of(report, figure(plots.front(), folder)),
         .evidence = {{"What it is made of", parts_html(parts) + fill("<p class=\"small\">{}</p>\n", {escape(reason)})},
                      {"By phase", phase_table(report)},
                      {"How resilient each phase is", resilience_section(report)},
                      {plots.back().title, figure(plots.back(), folder)},
                      {"The runs", runs_section(report)}},
         .foot = made_by(report.own_record,
                         {base::file::verdict, "compare.csv", "resilience.csv", "decomposition.csv", "rank_parts.csv",
                          "own_work.csv", "causes.csv", "runs.csv", "aligned_steps.csv"})});
}

}  // namespace

void print(std::ostream& out, const ComparisonReport& report)
{
    const PhaseComparison& step = step_of(report);
    out << "noisy against quiet: " << signed_percent(step.percent) << " (" << range(step.interval) << "), "
        << verdict_of(report) << " against a budget of " << report.budget_percent << " %\n"
        << "  " << report.quiet.size() << " quiet and " << report.noisy.size() << " noisy runs, "
        << report.comparison.numbers.size() << " steps aligned by " << report.comparison.aligned_by << ", quiet step "
        << fixed(step.quiet_ms, 2) << " ms\n"
        << "  p " << p_value(step.p_welch) << " (Welch), " << p_value(step.p_mann_whitney)
        << " (Mann-Whitney); quiet against quiet would differ by " << percent(report.comparison.floor_percent) << "\n";
    for (std::size_t p = 1; p < report.comparison.phases.size(); ++p) {
        const PhaseComparison& phase = report.comparison.phases[p];
        std::string name = phase.phase;
        name.resize(std::max<std::size_t>(name.size() + 1, 16), ' ');
        out << "  " << name << signed_percent(phase.percent) << " (" << range(phase.interval) << ")\n";
    }
    for (const std::string& line : lines_of(made_of(report).front())) out << line << "\n";
}

void write_markdown(std::ostream& out, const ComparisonReport& report)
{
    const PhaseComparison& step = step_of(report);
    out << "## Noisy against quiet runs: " << signed_percent(step.percent) << " (" << range(step.interval) << "), "
        << verdict_of(report) << " against a budget of " << report.budget_percent << " %\n\n"
        << report.quiet.size() << " quiet and " << report.noisy.size() << " noisy runs, "
        << report.comparison.numbers.size() << " steps aligned by " << report.comparison.aligned_by << ", quiet step "
        << fixed(step.quiet_ms, 2) << " ms. Quiet against quiet would differ by "
        << percent(report.comparison.floor_percent) << ".\n\n";
    std::vector<std::vector<std::string>> rows;
    for (const PhaseComparison& phase : report.comparison.phases)
        rows.push_back(
            {plain_markdown(phase.phase), signed_percent(phase.percent), range(phase.interval), p_value(phase.p_holm)});
    out << markdown_table({"Phase", "Effect", "Interval", "p (Welch, Holm)"}, rows);
    if (const std::string why = reading(decomposition_of(report.comparison)); !why.empty())
        out << "\n" << plain_markdown(why) << ".\n";
}

nlohmann::ordered_json tidy_json(const ComparisonReport& report)
{
    nlohmann::ordered_json json = json_of(report);
    json["effects"] = nlohmann::ordered_json::array();
    for (const auto* table : {&report.comparison.phases, &report.comparison.by_rank})
        for (const PhaseComparison& row : *table)
            json["effects"].push_back({{"phase", row.phase},
                                       {"rank", row.rank == all_ranks ? "all" : std::to_string(row.rank)},
                                       {"effect_percent", row.percent},
                                       {"low_percent", row.interval.low},
                                       {"high_percent", row.interval.high},
                                       {"p_holm", row.p_holm},
                                       {"quiet_ms", row.quiet_ms},
                                       {"noisy_ms", row.noisy_ms}});
    return json;
}

void write_comparison(const std::filesystem::path& wanted, const ComparisonReport& report)
{
    base::WholeDirectory directory{wanted};
    const std::filesystem::path& folder = directory.path();
    write_tables(folder, report);
    const std::vector<Plot> plots = draw_comparison(folder, report.comparison, report.budget_percent);
    base::write_whole(folder / base::file::run_record, base::json_text(report.own_record) + "\n");
    base::write_whole(folder / "index.html", html_of(report, folder, plots));
    base::write_whole(folder / base::file::verdict, base::json_text(json_of(report)) + "\n");
    directory.finish();
}

}  // namespace analysis
