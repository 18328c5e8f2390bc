// SPDX-License-Identifier: Apache-2.0
// Writes the page of a pooled report, and all of its files.
#include "analysis/report/pooled/writers.hpp"
#include "analysis/report/writers/html.hpp"
#include "analysis/report/writers/html_text.hpp"
#include "analysis/report/writers/record_html.hpp"
#include "analysis/report/writers/write.hpp"
#include "analysis/results/numbers.hpp"
#include "analysis/results/plots/run_plot.hpp"
#include "analysis/results/plots/step_plots.hpp"
#include "analysis/results/record.hpp"
#include "analysis/sections/cores/cores_section.hpp"
#include "analysis/sections/effects/effects_section.hpp"
#include "analysis/sections/evidence/evidence_section.hpp"
#include "analysis/sections/harvest/harvest_section.hpp"
#include "analysis/sections/response/response_section.hpp"
#include "base/contract/factor_name.hpp"
#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/system/stop.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <sstream>

namespace analysis {

namespace {

std::string estimate(const Mean& mean, double confidence)
{
    return base::page::with_half_width(fixed(mean.value, 2), fixed(mean.interval(confidence).half_width(), 2));
}

// One row per noise: the effect in each run, the pooled effect, and the variation between runs.
std::string table_of_runs(const PooledReport& report, const Colours& colours)
{
    const double confidence = report.all.verdict.confidence;
    std::vector<std::string> head{"Noise"};
    if (report.of_runs())
        for (const auto& run : report.runs) head.push_back(run.front().name);
    else
        for (const NamedReport* part : report.parts()) head.push_back(part->name);
    head.insert(head.end(), {"all", "heterogeneity"});
    std::vector<std::vector<Cell>> rows;
    for (const PooledEffect* pooled : step_effects(report)) {
        std::vector<Cell> row{{coloured_name(colours, pooled->effect.factor, pooled->effect.level), ""}};
        for (const Mean& one : report.of_runs() ? pooled->runs : pooled->parts)
            row.push_back({estimate(one, confidence), "number"});
        row.push_back({estimate(pooled->effect.percent, confidence), "number strong"});
        row.push_back(words(heterogeneity(report, *pooled)));
        rows.push_back(std::move(row));
    }
    return dense(table(head, rows));
}

std::string runs_section(const PooledReport& report, const Colours& colours, const Plot& plot,
                         const std::filesystem::path& folder)
{
    const double confidence = 100.0 * report.all.verdict.confidence;
    const std::string note =
        report.of_runs()
            ? base::join("Percent of the mean quiet step, ± half of the ", confidence,
                         " % interval. The interval of one run comes from its blocks, that of all runs from the runs "
                         "(random effects, Hartung and Knapp). A small p of Welch's test says that runs differ.")
            : base::join(
                  "Percent of the mean quiet step, ± half of the ", confidence,
                  " % interval, which comes from blocks. A part has the weight of its number of blocks; what differs "
                  "between parts is in the mean but not in its interval.");
    return fill("{}{}<p class=\"small\">{}</p>\n",
                {figure(plot, folder), table_of_runs(report, colours), escape(note)});
}

std::string differences_section(const PooledReport& report)
{
    std::vector<std::string> head{"Property"};
    for (const NamedReport* part : report.parts()) head.push_back(part->name);
    std::vector<std::vector<Cell>> rows;
    std::vector<std::string> equal;
    for (const Difference& difference : report.differences) {
        if (!difference.differs) {
            equal.push_back(difference.property);
            continue;
        }
        std::vector<Cell> row{words(difference.property, "key")};
        for (const std::string& value : difference.values) row.push_back(number(value));
        rows.push_back(std::move(row));
    }
    const std::string same = equal.empty() ? "" : "The same in all: " + base::join_words(equal, ", ") + ".";
    const std::string found = rows.empty() ? "<p>No recorded property differs.</p>\n" : dense(table(head, rows));
    return fill(
        R"({}<p class="small">{} Numbers differ here if they are more than a twentieth apart. A difference
may explain why effects differ, but need not.</p>
)",
        {found, escape(same)});
}

std::string parts_section(const PooledReport& report)
{
    std::vector<std::vector<Cell>> rows;
    for (const NamedReport* part : report.parts()) {
        const Verdict& own = part->report.verdict;
        const Record* record = training_record(part->report);
        rows.push_back({words(part->name), words(record == nullptr ? "" : word(record->json, "started")),
                        number(length_measured(own.run_minutes)), number(std::to_string(part->report.analysis.blocks)),
                        number(part->report.seed), words(own.trustworthy ? "yes" : base::join_words(own.reasons, "; ")),
                        words(headline(part->report))});
    }
    return fill("<p>Schedule of the noise: <code>{}</code></p>\n{}",
                {escape(report.all.schedule),
                 dense(table({"Run", "started", "length", "blocks", "seed", "trustworthy", "alone"}, rows))});
}

std::string not_said_of_all(const PooledReport& report, std::vector<std::string> sentences)
{
    sentences.pop_back();  // the last one is on the length of one run
    if (report.of_runs())
        sentences.emplace_back(
            "The number of runs should be fixed beforehand. Making runs until the interval looks narrow makes it too "
            "narrow.");
    else if (report.all.verdict.looks == Looks::none)
        sentences.emplace_back(
            "Extending a run because it was undecided is a second look, which intervals of a fixed length do not "
            "account for: docs/statistics.md says how often that misleads.");
    return plain_list(sentences);
}

std::string harvest_section(const PooledReport& report)
{
    const std::vector<std::string> sentences = harvest_sentences(report.all);
    if (sentences.empty()) return "";
    return fill("{}<p class=\"small\">Speeds are means over {}.</p>\n",
                {plain_list(sentences), report.of_runs() ? "runs: the run is the unit" : "slots of all parts"});
}

std::string curves_section(const PooledReport& report, const PooledPlots& plots, const std::filesystem::path& folder)
{
    if (curves_of(report.all).empty()) return "";
    const std::string unit = report.of_runs() ? "runs: they include variation from run to run" : "blocks of all parts";
    return fill(R"({}{}<p class="small">Levels and doses are pooled; intervals come from the {}.</p>
)",
                {plain_list(curve_sentences(report.all)), plots.response ? figure(*plots.response, folder) : "", unit});
}

std::string cores_section(const PooledReport& report, const PooledPlots& plots, const std::filesystem::path& folder)
{
    const std::vector<std::string> sentences = cores_sentences(report.all);
    if (sentences.empty()) return "";
    return plain_list(sentences) + (plots.cores ? figure(*plots.cores, folder) : "");
}

// The critical rank and region: "rank 1, in backward (+9.8 %)"; a dash if no rank is critical.
std::string culprit(const Decomposition& found)
{
    if (!found.critical_rank || found.region.empty()) return "–";
    return base::join("rank ", *found.critical_rank, ", ", where(found.region), " (",
                      signed_percent(found.region_percent), ")");
}

// One row per noise: the cause over all runs, then the cause in each run.
std::string table_of_culprits(const PooledReport& report, const Colours& colours)
{
    const std::vector<NamedDecomposition> found = decompositions(report);
    std::vector<std::string> head{"Noise", "all"};
    for (const NamedReport* part : report.parts()) head.push_back(part->name);
    std::vector<std::vector<Cell>> rows;
    for (const NamedDecomposition& first : found) {
        if (first.run != found.front().run) break;
        std::vector<Cell> row{{coloured_name(colours, first.factor, first.level), ""}};
        for (const NamedDecomposition& one : found)
            if (one.factor == first.factor && one.level == first.level && one.kind == first.kind)
                row.push_back(words(culprit(one.of)));
        rows.push_back(std::move(row));
    }
    return dense(table(head, rows));
}

std::string detail_section(const PooledReport& report, const Colours& colours, const PooledPlots& plots,
                           const std::filesystem::path& folder)
{
    const std::vector<NamedDecomposition> of_all = decompositions(report.all);
    std::string made_of;
    if (!of_all.empty())
        made_of = noise_table(colours, table_of(of_all)) +
                  fill("<h3>Whose slowdown it was, run by run</h3>\n{}", {table_of_culprits(report, colours)});
    if (report.all.run.evidence.known()) made_of += noise_table(colours, parts_of_slowdown(report.all));
    const std::string phases = noise_table(colours, effects_by_phase(report.all));
    return fill(R"({}{}<div class="screen"><h3>{}</h3>
{}<h3>{}</h3>
{}</div>
)",
                {phases, made_of, escape(plots.heat_map.title), figure(plots.heat_map, folder),
                 escape(plots.phases_over_time.title), figure(plots.phases_over_time, folder)});
}

std::vector<StepsOfRun> steps_of(const PooledReport& report)
{
    std::vector<StepsOfRun> steps;
    for (const NamedReport* part : report.parts()) steps.push_back({part->name, &part->report.run.steps});
    return steps;
}

std::vector<RunOnPlot> rows_of_plot(const PooledReport& report)
{
    std::vector<RunOnPlot> rows;
    for (const PooledEffect* pooled : step_effects(report)) {
        const Effect& effect = pooled->effect;
        const std::string name = base::factor_name(effect.factor, effect.level);
        rows.push_back(
            {name, effect.factor, effect.percent.value, effect.percent.interval(report.all.verdict.confidence), true});
        const std::vector<Mean>& each = report.of_runs() ? pooled->runs : pooled->parts;
        for (std::size_t r = 0; r < each.size(); ++r)
            rows.push_back({report.of_runs() ? report.runs[r].front().name : report.parts()[r]->name, effect.factor,
                            each[r].value, each[r].interval(report.all.verdict.confidence), false});
    }
    return rows;
}

}  // namespace

std::string pooled_html(const PooledReport& report, const Content& content, const PooledPlots& plots,
                        const std::filesystem::path& folder)
{
    const Report& all = report.all;
    const Findings& found = content.found;
    const Colours& colours = content.colours;
    const std::string who = text(found.run);
    return base::page::html_of(
        {.title = "Crosstalk: " + what_was_pooled(report) + " of " + who,
         .description = found.text.headline,
         .headline = found.text.headline,
         .subtitle = fill("Noise beside {}<br>{}, {}",
                          {escape(who), escape(what_was_pooled(report)), escape(found.text.measured)}),
         .trust = trust(found.control_checks),
         .warning = distrust(all.verdict),
         .answer = answer(content, figure(plots.effects, folder)),
         .evidence = {{report.of_runs() ? "Run by run" : "Part by part",
                       runs_section(report, colours, plots.runs, folder)},
                      {"How much", curves_section(report, plots, folder)},
                      {"How many cores", cores_section(report, plots, folder)},
                      {"What the neighbour got done", harvest_section(report)},
                      {"What differed between them", differences_section(report)},
                      {report.of_runs() ? "What limits these runs" : "What limits this run", plain_list(all.limits)},
                      {"In detail", detail_section(report, colours, plots, folder)},
                      {"What was run", parts_section(report)},
                      {"What this report does not say", not_said_of_all(report, found.not_said)}},
         .foot = made_by(all.own_record,
                         {base::file::verdict, base::file::verdicts, "pooled.csv", "runs.csv", "differences.csv",
                          base::file::effects, "measures.csv", "response.csv", "harvest.csv", "decomposition.csv",
                          "rank_parts.csv", "own_work.csv", "causes.csv"})});
}

void write_pooled(const std::filesystem::path& wanted, const PooledReport& report)
{
    base::WholeDirectory directory{wanted};
    const std::filesystem::path& folder = directory.path();
    Content all = content_of(report.all);
    all.found.text.scope = scope(report);
    write_pooled_tables(folder, report, all);
    PooledPlots plots{draw_effects(folder, report.all),
                      draw_runs(folder, report.all, rows_of_plot(report)),
                      draw_heat_map(folder, steps_of(report)),
                      draw_phases_over_time(folder, steps_of(report)),
                      {},
                      {}};
    if (!falling_curves_of(report.all).empty()) plots.cores = draw_cores(folder, report.all);
    if (!curves_of(report.all).empty()) plots.response = draw_response(folder, report.all);
    base::end_if_stopped();
    base::write_whole(folder / "index.html", pooled_html(report, all, plots, folder));
    std::ostringstream text;
    print(text, report, all);
    write_texts(folder, all, text.str(), pooled_json(report, all));
    directory.finish();
}

}  // namespace analysis
