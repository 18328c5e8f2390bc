#include "analysis/report/html.hpp"

#include "analysis/report/again.hpp"
#include "analysis/report/html_style.hpp"
#include "analysis/report/html_text.hpp"
#include "analysis/report/identity.hpp"
#include "analysis/report/numbers.hpp"
#include "analysis/report/palette.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace analysis {

namespace {

using base::join;

std::string plain(double percent)
{
    return join(percent, " %");
}

std::string name_of(const std::string& factor, const std::string& level)
{
    return level.empty() ? factor : factor + " " + level;
}

std::string coloured_name(const Report& report, const std::string& factor, const std::string& level)
{
    const std::vector<std::string> names = factor_names(report.run.plan);
    const auto found = std::find(names.begin(), names.end(), factor);
    std::string dot;
    if (found != names.end())
        dot = "<span class=\"dot\" style=\"background:" + colour(static_cast<std::size_t>(found - names.begin())) +
              "\"></span>";
    return "<span style=\"white-space:nowrap\">" + dot + "<b>" + escape(factor) + "</b></span>" +
           (level.empty() ? "" : " <span class=\"small\">" + escape(level) + "</span>");
}

std::string badge(const FactorVerdict& factor)
{
    return "<span class=\"badge " + factor.verdict + "\">" + factor.verdict + "</span>";
}

std::size_t count_of(const Verdict& verdict, const std::string& judged)
{
    return static_cast<std::size_t>(
        std::count_if(verdict.factors.begin(), verdict.factors.end(),
                      [&](const FactorVerdict& factor) { return factor.verdict == judged; }));
}

// Names of the factors with that verdict, as a list in a sentence.
std::string listed(const Verdict& verdict, const std::string& judged)
{
    std::vector<std::string> names;
    for (const FactorVerdict& factor : verdict.factors)
        if (factor.verdict == judged) names.push_back("<b>" + escape(name_of(factor.factor, factor.level)) + "</b>");
    return base::join_words(names, ", ");
}

std::string answer(const Verdict& verdict)
{
    std::string text;
    const auto add = [&](const std::string& judged, const std::string& before, const std::string& after) {
        const std::string names = listed(verdict, judged);
        if (!names.empty()) text += before + names + after + " ";
    };
    const std::string budget = plain(verdict.budget_percent);
    add("safe", "", " may run beside this training: it slows down by less than " + budget + ".");
    add("unsafe", "Keep ",
        count_of(verdict, "unsafe") == 1 ? " away: it costs more than " + budget + "."
                                         : " away: they cost more than " + budget + ".");
    add("undecided", "On ", " this run does not decide.");
    if (!verdict.trustworthy) text = "This run gives no answer. Its numbers, if they could be trusted: " + text;
    return "<p class=\"answer\">" + text + "</p>\n";
}

std::string banner(const Verdict& verdict)
{
    if (verdict.trustworthy)
        return "<div class=\"banner good\"><h2>✓ This run can be trusted</h2>Doing nothing measured as nothing, a "
               "known delay "
               "measured as what it was, and the noise was there when it should be.</div>\n";
    std::string html = "<div class=\"banner bad\"><h2>✗ Not trustworthy</h2>Don't act on the numbers below:<ul>";
    for (const std::string& reason : verdict.reasons) html += "<li>" + escape(reason) + "</li>";
    return html + "</ul></div>\n";
}

// How to measure once more, for long enough; nothing if no factor needs it.
std::string again(const Report& report)
{
    const std::optional<double> minutes = forecast_minutes(report);
    if (!minutes || *minutes >= forecast_limit_minutes) return "";
    const std::string command = command_for(report, *minutes);
    if (command.empty()) return "";
    return "<p class=\"small\">Half widths fall with the square root of a run's length, and a run cannot be prolonged. "
           "A new one of " +
           length(*minutes) + ": <code>" + escape(command) + "</code></p>\n";
}

std::string verdict_section(const Report& report)
{
    const Verdict& verdict = report.verdict;
    std::vector<std::vector<Cell>> rows;
    for (const FactorVerdict& factor : verdict.factors) {
        std::string state = badge(factor);
        if (factor.verdict == "undecided")
            state += "<div class=\"small outlook\">" + escape(outlook(report, factor)) + "</div>";
        rows.push_back({{coloured_name(report, factor.factor, factor.level), ""},
                        {"<span class=\"big\">" + signed_percent(factor.percent) + "</span><div class=\"small\">" +
                             range(factor.interval) + "</div>",
                         "number"},
                        {state, ""},
                        words(factor.cause.sentence, "wide"),
                        words(factor.setting, "wide")});
    }
    return "<section><h2>What may run beside this training</h2>\n" + answer(verdict) +
           table({"Noise", "Slowdown of a step", "Budget " + plain(verdict.budget_percent), "Where it comes from",
                  "Setting to act on"},
                 rows) +
           again(report) +
           "<p class=\"small\">Slowdown: how much longer a training step takes while this noise runs, in percent of a "
           "quiet step (" +
           fixed(verdict.quiet_step_ms, 2) + " ms), with its " + plain(100.0 * verdict.confidence) +
           " interval. Safe: the whole interval is below the budget. Unsafe: all of it is above. Undecided: neither. "
           "Settings "
           "are what acts on such noise; this run did not try them.</p></section>\n";
}

std::string limits_box(const Report& report)
{
    if (report.limits.empty()) return "";
    std::string html = "<section><h2>What limits this run</h2>\n<ul class=\"plain\">";
    for (const std::string& limit : report.limits) html += "<li>" + escape(limit) + "</li>\n";
    return html + "</ul></section>\n";
}

std::string tile(bool good, const std::string& name, const std::string& value, const std::string& meaning)
{
    return "<div class=\"tile\"><div class=\"name\">" + name + "</div><div class=\"value\"><span class=\"mark-" +
           (good ? "good\">✓" : "bad\">✗") + "</span> " + value + "</div><div class=\"small\">" + meaning +
           "</div></div>\n";
}

std::string control_tile(const std::string& name, const std::optional<Control>& control, const std::string& truth,
                         const std::string& meaning)
{
    if (!control) return tile(false, name, "not in the schedule", meaning);
    return tile(control->holds, name, signed_percent(control->percent.value) + ", truly " + truth,
                meaning + " Interval " + range(control->interval) + ".");
}

std::string truth_of(const std::optional<Control>& control)
{
    return control && control->connected ? percent(control->true_percent) : "unknown";
}

std::string cost_of_sham(const Verdict& verdict)
{
    if (!verdict.sham) return "";
    return " The barriers around it cost " + signed_percent(verdict.sham->percent.value) +
           " in its own slots and its sham's, and nothing elsewhere.";
}

std::size_t count_of(const Analysis& analysis, LeftOut reason)
{
    const auto found = analysis.counts.find(reason);
    return found == analysis.counts.end() ? 0 : found->second;
}

std::string left_out_words(const Analysis& analysis)
{
    std::vector<std::string> parts;
    for (const auto& [reason, count] : analysis.counts)
        if (reason != LeftOut::no && count > 0) parts.push_back(join(count, " (", text(reason), ")"));
    return parts.empty() ? "none left out" : "left out: " + base::join_words(parts, ", ");
}

std::string trust_section(const Report& report)
{
    const Verdict& verdict = report.verdict;
    const Analysis& analysis = report.analysis;
    std::string html = "<section><h2>Why it can" + std::string{verdict.trustworthy ? "" : "not"} +
                       " be trusted</h2>\n<div class=\"tiles\">\n";
    html += control_tile("Placebo: noise that does nothing", verdict.placebo, "nothing", "Must measure as nothing.");
    if (verdict.delay || !verdict.pause)
        html +=
            control_tile("Control: a delay of known length", verdict.delay, truth_of(verdict.delay),
                         "Asked of the training, and recorded by it. Must measure, against its sham, as what it was." +
                             cost_of_sham(verdict));
    if (verdict.pause)
        html += control_tile("Control: pauses of known length", verdict.pause, truth_of(verdict.pause),
                             verdict.pause->judged
                                 ? "All processes of the training stopped. Must measure as what was stopped."
                                 : "Not judged: the training computes while its processes are stopped, as on a GPU.");
    html += tile(verdict.covered, "Noise covered the training",
                 fixed(100.0 * analysis.covered_share, 1) + " % after its warm-up",
                 "By the noise's own record, on the clock of each node.");
    html +=
        tile(analysis.blocks >= 5, "Independent repetitions", count(static_cast<std::size_t>(analysis.blocks), "block"),
             join("Each holds every noise and quiet", report.run.plan.randomised() ? ", in random order" : "", "; ",
                  count(static_cast<std::size_t>(analysis.dropped_blocks), "incomplete block"),
                  " left out. Intervals rest on blocks, not on steps."));
    html += tile(
        report.run.plan.randomised(), "Order of the noise",
        report.run.plan.randomised() ? "random, " + escape(text(report.run.plan.design)) : "not random",
        report.run.plan.randomised()
            ? "No rhythm of the machine can pass for an effect."
            : "A fixed sequence: a rhythm of the machine with the same period would pass for an effect, and p-values "
              "come from the t test instead of re-randomisation.");
    const std::size_t outliers = analysis.outliers.count();
    html += tile(analysis.outliers.set_aside, "Outliers",
                 join(outliers, " of ", count_of(analysis, LeftOut::no) + (analysis.outliers.set_aside ? outliers : 0),
                      " steps"),
                 analysis.outliers.set_aside
                     ? "Set aside from the estimate and reported below."
                     : "Too many under one noise for accidents, so they stay in the estimate; intervals are wider.");
    html += "</div>\n<p class=\"small\" style=\"margin-top:12px\">" +
            join(count_of(analysis, LeftOut::no), " steps used; ") + escape(left_out_words(analysis)) +
            ".</p></section>\n";
    return html;
}

std::string without_prolog(const std::string& svg)
{
    const std::size_t start = svg.find("<svg");
    return start == std::string::npos ? "" : svg.substr(start);
}

std::string figure(const Plot& plot, const std::filesystem::path& folder)
{
    std::string html = "<h3>" + escape(plot.title) + "</h3>\n<figure>";
    html += plot.drawn ? without_prolog(base::read_whole(folder / (plot.name + ".svg")))
                       : "<p class=\"small\">Not drawn by gnuplot. " + escape(plot.name) + ".gp is ready for it.</p>";
    return html + "<figcaption>" + escape(plot.caption) + "</figcaption></figure>\n";
}

// "1.23 ± 0.37"; what is zero to two digits is only "0".
Cell estimate(const Effect* effect, double confidence, bool strong = false)
{
    if (effect == nullptr) return number("–");
    const double half = effect->percent.interval(confidence).half_width();
    if (std::abs(effect->percent.value) + half < 0.005) return words("0", "number faint");
    return {fixed(effect->percent.value, 2) + " <span class=\"half\">± " + fixed(half, 2) + "</span>",
            strong ? "number strong" : "number"};
}

// The name of a row's factor; in a factorial also the kind of its effect.
std::vector<Cell> row_head(const Report& report, const Effect& effect)
{
    std::vector<Cell> row{{coloured_name(report, effect.factor, effect.level), ""}};
    if (report.run.plan.design == Design::factorial) row.push_back(words(text(effect.kind), "small"));
    return row;
}

std::vector<std::string> head_of(const Report& report)
{
    if (report.run.plan.design == Design::factorial) return {"Noise", "kind"};
    return {"Noise"};
}

std::string dense(const std::string& table)
{
    return "<div class=\"dense\">" + table + "</div>\n";
}

// Effects of the job by factor and phase.
std::string effects_table(const Report& report)
{
    std::vector<std::string> columns{"step"};
    columns.insert(columns.end(), report.run.steps.phases.begin(), report.run.steps.phases.end());
    std::vector<std::string> head = head_of(report);
    head.insert(head.end(), columns.begin(), columns.end());
    std::vector<std::vector<Cell>> rows;
    for (const Effect& effect : report.analysis.effects) {
        if (effect.rank != all_ranks || effect.phase != "step") continue;
        std::vector<Cell> row = row_head(report, effect);
        for (const std::string& phase : columns) {
            const Effect* here = find(report.analysis.effects, effect.factor, effect.level, effect.kind, phase);
            row.push_back(estimate(here, report.verdict.confidence, here->p_holm <= 0.05));
        }
        rows.push_back(std::move(row));
    }
    return table(head, rows);
}

std::string ranks_table(const Report& report)
{
    std::vector<std::string> head = head_of(report);
    for (const RankSteps& rank : report.run.steps.ranks) head.push_back(join("rank ", rank.rank, " step"));
    for (const RankSteps& rank : report.run.steps.ranks)
        if (!report.run.extra_names.empty()) head.push_back(join("rank ", rank.rank, " ready"));
    std::vector<std::vector<Cell>> rows;
    for (const Effect& effect : report.analysis.effects) {
        if (effect.rank != all_ranks || effect.phase != "step") continue;
        std::vector<Cell> row = row_head(report, effect);
        const auto add = [&](const Effect* here) { row.push_back(estimate(here, report.verdict.confidence)); };
        for (const RankSteps& rank : report.run.steps.ranks)
            add(find(report.analysis.effects, effect.factor, effect.level, effect.kind, "step", rank.rank));
        for (const RankSteps& rank : report.run.steps.ranks)
            if (!report.run.extra_names.empty())
                add(find(report.analysis.extra_effects, effect.factor, effect.level, effect.kind,
                         join("ready rank ", rank.rank)));
        rows.push_back(std::move(row));
    }
    return table(head, rows);
}

std::string split_table(const Report& report)
{
    const std::vector<std::pair<std::string, std::string>> columns{{"critical_compute", "own work, slowest rank"},
                                                                   {"exposed_transfer", "transfer"},
                                                                   {"after_exchange", "after the exchange"},
                                                                   {"waiting", "waiting for a rank"},
                                                                   {"transfer_min", "shortest exchange"}};
    std::vector<std::string> head = head_of(report);
    for (const auto& column : columns) head.push_back(column.second);
    std::vector<std::vector<Cell>> rows;
    for (const Effect& effect : report.analysis.effects) {
        if (effect.rank != all_ranks || effect.phase != "step") continue;
        std::vector<Cell> row = row_head(report, effect);
        for (const auto& column : columns) {
            const Effect* here =
                find(report.analysis.extra_effects, effect.factor, effect.level, effect.kind, column.first);
            row.push_back(estimate(here, report.verdict.confidence));
        }
        rows.push_back(std::move(row));
    }
    return "<h3>Own slowdown, transfer, waiting</h3>\n" + dense(table(head, rows)) +
           "<p class=\"small\">The first three columns add up to the step. Waiting: mean over ranks of the time "
           "between their "
           "last bucket and that of the slowest rank. Shortest exchange: transfer time without waiting for "
           "peers.</p>\n";
}

std::string outlier_table(const Report& report)
{
    std::vector<std::vector<Cell>> rows;
    for (const OutlierRate& rate : report.analysis.outlier_rates) {
        const Effect* median = find(report.analysis.extra_effects, rate.factor, rate.level, Kind::alone, "median step");
        rows.push_back(
            {{rate.factor == "quiet" ? "<b>quiet</b>" : coloured_name(report, rate.factor, rate.level), ""},
             number(fixed(rate.percent_of_steps, 2) + " %"),
             number(fixed(rate.percent_of_time, 2) + " %"),
             number(rate.factor == "quiet" ? "" : p_value(rate.p)),
             number(median == nullptr ? ""
                                      : signed_percent(median->percent.value) + " (" +
                                            range(median->percent.interval(report.verdict.confidence)) + ")")});
    }
    return "<h3>Outliers and the median step</h3>\n" +
           dense(table(
               {"Noise", "outliers, share of steps", "share of time", "p against quiet", "effect on the median step"},
               rows)) +
           "<p class=\"small\">A verdict uses the mean step, because that is throughput. An outlier is slower than the "
           "usual "
           "step under the same noise by more than five robust standard deviations.</p>\n";
}

std::string detail_section(const Report& report, const std::vector<Plot>& plots, const std::filesystem::path& folder)
{
    std::string html = "<section><h2>In detail</h2>\n";
    for (const Plot& plot : plots) html += figure(plot, folder);
    html += "<h3>Effects by phase, all ranks</h3>\n" + dense(effects_table(report)) +
            "<p class=\"small\">Percent of the quiet mean step, ± half of the " +
            plain(100.0 * report.verdict.confidence) +
            " interval. Strong: differs from zero with p ≤ 0.05 after Holm's correction over all noises and phases. "
            "Phases add "
            "up to the step. Alone: this noise against quiet.";
    if (report.run.plan.design == Design::factorial)
        html +=
            " Average: with it against without it, whatever else was on. Interaction: what two together cost beyond "
            "the sum "
            "of each.";
    html += "</p>\n";
    if (!report.run.extra_names.empty()) html += split_table(report);
    if (report.run.steps.ranks.size() > 1 && report.run.steps.ranks.size() <= 8)
        html +=
            "<h3>Rank by rank</h3>\n" + dense(ranks_table(report)) +
            "<p class=\"small\">Ranks that exchange gradients wait for the slowest, so their steps slow down alike. "
            "<i>Ready</i> is the time until a rank's own gradients were ready: it names the rank that others wait for. "
            "Phases by rank: effects.csv.</p>\n";
    return html + outlier_table(report) + "</section>\n";
}

// One value of a record as text, whatever its type.
std::string shown(const nlohmann::ordered_json& json, const std::string& key)
{
    const auto found = json.find(key);
    if (found == json.end() || found->is_null()) return "";
    if (found->is_string()) return found->get<std::string>();
    if (found->is_array()) {
        std::vector<std::string> words;
        for (const auto& word : *found) words.push_back(word.is_string() ? word.get<std::string>() : word.dump());
        return base::join_words(words, " ");
    }
    return found->dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

// A member of the record, or of its part "training".
std::string shown_anywhere(const nlohmann::ordered_json& record, const std::string& key)
{
    const std::string value = shown(record, key);
    if (!value.empty()) return value;
    const auto training = record.find("training");
    return training != record.end() && training->is_object() ? shown(*training, key) : "";
}

std::string record_table(const nlohmann::ordered_json& record)
{
    const std::vector<std::pair<std::string, std::string>> wanted{{"command_line", "command"},
                                                                  {"host", "host"},
                                                                  {"cpu_model", "processor"},
                                                                  {"cpus", "CPUs used"},
                                                                  {"kernel", "kernel"},
                                                                  {"started", "started"},
                                                                  {"ranks", "processes"},
                                                                  {"model", "model"},
                                                                  {"data", "data"},
                                                                  {"strategy", "strategy"},
                                                                  {"batch", "batch"},
                                                                  {"transport", "transport"},
                                                                  {"schedule", "schedule"},
                                                                  {"seed", "seed"},
                                                                  {"avoided_cpus", "CPUs avoided"},
                                                                  {"clock_identity", "clock"},
                                                                  {"environment", "environment"},
                                                                  {"version", "Crosstalk"},
                                                                  {"git_revision", "revision"}};
    std::vector<std::vector<Cell>> rows;
    for (const auto& [key, name] : wanted) {
        const std::string value = shown_anywhere(record, key);
        if (value.empty() || value == "{}") continue;
        rows.push_back({words(name, "key"), {"<code>" + escape(value.substr(0, 2000)) + "</code>", ""}});
    }
    return table({}, rows);
}

// "3.21 GB/s" from a member in bytes per second; empty if there is none, or none were moved.
std::string speed(const nlohmann::ordered_json& level, const std::string& key, double unit, const std::string& name)
{
    const auto found = level.find(key);
    if (found == level.end() || !found->is_number() || found->get<double>() <= 0.0) return "";
    return fixed(found->get<double>() / unit, 2) + name;
}

// What the noise really did, from noise.json.
std::string factor_levels_table(const nlohmann::ordered_json& record)
{
    const auto levels = record.find("factor_levels");
    if (levels == record.end() || !levels->is_array()) return "";
    std::vector<std::vector<Cell>> rows;
    for (const auto& level : *levels)
        if (level.is_object())
            rows.push_back({words(name_of(shown(level, "factor"), shown(level, "level"))),
                            words(shown(level, "stressor")), number(shown(level, "slots")),
                            number(speed(level, "bytes_per_s", 1e9, " GB/s")),
                            number(speed(level, "operations_per_s", 1.0, " /s"))});
    if (rows.empty()) return "";
    return dense(table({"Noise", "stressor", "times on", "moved while on", "operations while on"}, rows));
}

std::string run_section(const Report& report)
{
    std::string html = "<section><h2>What was run where</h2>\n";
    const std::string schedule =
        report.schedule.empty() ? "" : "<p>Schedule of the noise: <code>" + escape(report.schedule) + "</code></p>\n";
    html += schedule;
    for (const Record& record : report.records) {
        const std::string host = record.json.is_object() ? shown(record.json, "host") : "";
        html += "<h3>" + escape(record.what + (host.empty() ? "" : " on " + host)) + "</h3>\n";
        if (record.json.is_object())
            html += dense(record_table(record.json)) + factor_levels_table(record.json);
        else
            html += "<p class=\"small\">No record was found beside " + escape(record.archive.string()) + ".</p>\n";
    }
    for (const std::string& note : report.notes) html += "<p class=\"small\">" + escape(note) + "</p>\n";
    return html + "</section>\n";
}

std::string limits_section(const Report& report)
{
    std::string html = "<section><h2>What this report does not say</h2>\n<ul class=\"plain\">";
    html +=
        "<li>It holds for this training, on these nodes, with this noise on these cores. Another model, another number "
        "of "
        "ranks or another machine is another measurement.</li>";
    const Slot& slot = report.run.slots.front().front();
    html += join("<li>A noise was on for ", fixed(static_cast<double>(slot.end_ns - slot.begin_ns) / 1e9, 2),
                 " s at a time. Effects that take longer to build up (caches on disk, heat, quotas) do not show.</li>");
    html +=
        "<li>Outliers that are set aside are not in the slowdown; their rate under each noise is in the table "
        "above.</li>";
    html +=
        "<li>The length of a run should be fixed beforehand. Measuring until the interval looks narrow makes it too "
        "narrow.</li>";
    return html + "</ul></section>\n";
}

}  // namespace

std::string html(const Report& report, const std::vector<Plot>& plots, const std::filesystem::path& folder)
{
    std::string page =
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
        "<title>Crosstalk: " +
        escape(text(identity(report))) + "</title>\n<style>";
    page += html_style;
    page += "</style></head>\n<body><main>\n<h1>Noise beside a training: what it costs</h1>\n<p class=\"sub\">" +
            escape(text(identity(report))) + "<br>" +
            join(count(report.analysis.counts.at(LeftOut::no), "step"), " measured, a quiet step takes ",
                 fixed(report.verdict.quiet_step_ms, 2), " ms, budget ", plain(report.verdict.budget_percent)) +
            "</p>\n";
    if (!report.verdict.trustworthy) page += banner(report.verdict);
    page += verdict_section(report);
    if (report.verdict.trustworthy) page += banner(report.verdict);
    page += limits_box(report);
    page += trust_section(report);
    page += detail_section(report, plots, folder);
    page += run_section(report);
    page += limits_section(report);
    page += "<p class=\"small\">Made by Crosstalk " + escape(shown(report.own_record, "version")) + " (" +
            escape(shown(report.own_record, "git_revision")) +
            "). Beside this page: verdict.json, verdicts.csv, effects.csv, measures.csv, outliers.csv, levels.csv, "
            "exposure.csv, and each plot with its gnuplot script and data.</p>\n";
    return page + "</main></body></html>\n";
}

}  // namespace analysis
