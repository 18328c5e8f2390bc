#include "analysis/report/writers/comparison_report.hpp"

#include "analysis/conclude/verdict.hpp"
#include "analysis/report/numbers.hpp"
#include "analysis/report/plots/plots.hpp"
#include "analysis/report/record.hpp"
#include "analysis/report/writers/html.hpp"
#include "analysis/report/writers/html_text.hpp"
#include "analysis/report/writers/write.hpp"
#include "base/contract/run_directory.hpp"
#include "base/contract/run_record.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/files.hpp"

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

void write_tables(const std::filesystem::path& folder, const ComparisonReport& report)
{
    base::CsvWriter phases{folder / "compare.csv",
                           {"phase", "effect_percent", "low_percent", "high_percent", "p_holm", "p_welch",
                            "p_mann_whitney", "quiet_ms", "noisy_ms"}};
    for (const PhaseComparison& phase : report.comparison.phases)
        phases.row(phase.phase, phase.percent, phase.interval.low, phase.interval.high, phase.p_holm, phase.p_welch,
                   phase.p_mann_whitney, phase.quiet_ms, phase.noisy_ms);
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
    return json;
}

constexpr std::string_view form = R"(<h1>Quiet runs against noisy runs</h1>
<p class="sub">{}</p>
<section><h2>What the noise costs</h2><p class="answer"><span class="big">{}</span> ({})
<span class="badge {}">{}</span> against a budget of {}</p>
<p>Quiet runs compared with each other, as many on each side, would scatter by up to {}: an effect below that is
nothing these runs could show. The run is the unit, so more steps in a run do not make the interval narrower; more
runs do. Runs are trusted to differ in the noise alone.</p></section>
<section><h2>By phase</h2>
{}{}</section>
<section><h2>{}</h2>{}</section>
<section><h2>The runs</h2>
{}{}<h3>Compared by</h3>
{}</section>
<p class="small">Beside this page: {}, and each plot with its gnuplot script and data.</p>
)";

std::string html_of(const ComparisonReport& report, const std::filesystem::path& folder, const std::vector<Plot>& plots)
{
    const PhaseComparison& step = step_of(report);
    const std::string judged = verdict_of(report);
    const std::vector<std::string> head{"Phase",     "effect",          "interval",        "quiet, ms",
                                        "noisy, ms", "p (Welch, Holm)", "p (Mann–Whitney)"};
    std::vector<std::vector<Cell>> phases;
    for (const PhaseComparison& phase : report.comparison.phases)
        phases.push_back({words(phase.phase), number(signed_percent(phase.percent)), number(range(phase.interval)),
                          number(fixed(phase.quiet_ms, 3)), number(fixed(phase.noisy_ms, 3)),
                          number(p_value(phase.p_holm)), number(p_value(phase.p_mann_whitney))});
    std::vector<std::vector<Cell>> runs;
    for (const RunRow& run : run_rows(report))
        runs.push_back({words(run.set), words(run.run), number(fixed(run.mean_step_ms, 3)), words(run.model),
                        words(run.host), words(run.started)});
    std::string notes;
    for (const std::string& note : report.notes) notes += fill("<p class=\"small\">{}</p>\n", {escape(note)});
    const std::string sets = join(report.quiet.size(), " quiet and ", report.noisy.size(), " noisy runs, ",
                                  report.comparison.numbers.size(), " steps in each");
    return page("Crosstalk comparison",
                join("Noisy against quiet runs: ", judged, ", ", signed_percent(step.percent), " of the quiet step"),
                fill(form, {sets, signed_percent(step.percent), range(step.interval), judged, judged,
                            join(report.budget_percent, " %"), percent(report.comparison.floor_percent),
                            figure(plots.front(), folder), table(head, phases), escape(plots.back().title),
                            figure(plots.back(), folder),
                            table({"Set", "Run", "mean step, ms", "Model", "Host", "Started"}, runs), notes,
                            facts_table(report.own_record),
                            links({base::file::verdict, "compare.csv", "runs.csv", "aligned_steps.csv"})}));
}

}  // namespace

void print(std::ostream& out, const ComparisonReport& report)
{
    const PhaseComparison& step = step_of(report);
    out << "noisy against quiet: " << signed_percent(step.percent) << " (" << range(step.interval) << "), "
        << verdict_of(report) << " against a budget of " << report.budget_percent << " %\n"
        << "  " << report.quiet.size() << " quiet and " << report.noisy.size() << " noisy runs, "
        << report.comparison.numbers.size() << " steps aligned, quiet step " << fixed(step.quiet_ms, 2) << " ms\n"
        << "  p " << p_value(step.p_welch) << " (Welch), " << p_value(step.p_mann_whitney)
        << " (Mann-Whitney); quiet against quiet would scatter by " << percent(report.comparison.floor_percent) << "\n";
    for (std::size_t p = 1; p < report.comparison.phases.size(); ++p) {
        const PhaseComparison& phase = report.comparison.phases[p];
        std::string name = phase.phase;
        name.resize(std::max<std::size_t>(name.size() + 1, 16), ' ');
        out << "  " << name << signed_percent(phase.percent) << " (" << range(phase.interval) << ")\n";
    }
}

void write_comparison(const std::filesystem::path& wanted, const ComparisonReport& report)
{
    base::WholeDirectory directory{wanted};
    const std::filesystem::path& folder = directory.path();
    write_tables(folder, report);
    const std::vector<Plot> plots = draw_comparison(folder, report.comparison, report.budget_percent);
    base::write_whole(folder / base::file::run_record, json_text(report.own_record));
    base::write_whole(folder / "index.html", html_of(report, folder, plots));
    base::write_whole(folder / base::file::verdict, json_text(json_of(report)));
    directory.finish();
}

}  // namespace analysis
