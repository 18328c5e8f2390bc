// SPDX-License-Identifier: Apache-2.0
// The cost of checkpoints in words and tables for people.
#include "analysis/report/writers/text.hpp"

#include "analysis/checkpoints/write.hpp"
#include "analysis/results/numbers.hpp"
#include "base/error.hpp"
#include "base/figures.hpp"
#include "base/words.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace analysis {

namespace {

using base::join;

struct TimeUnit {
    double s;
    const char* name;
};

// Units of time, the largest first. A unit is used for times of at least one unit, h and min of at least two.
constexpr std::array time_units{TimeUnit{3600.0, "h"}, TimeUnit{60.0, "min"}, TimeUnit{1.0, "s"}, TimeUnit{1e-3, "ms"},
                                TimeUnit{1e-6, "us"}};

const TimeUnit& unit_of(double seconds)
{
    for (const TimeUnit& unit : time_units) {
        const double least = unit.s >= 60.0 ? 2.0 : 1.0;  // 90 s and 90 min, not 1.5 min and 1.5 h
        if (std::abs(seconds) >= least * unit.s) return unit;
    }
    return seconds == 0.0 ? time_units[2] : time_units.back();
}

std::string in_unit(double seconds, const TimeUnit& unit)
{
    const double value = seconds / unit.s;
    return fixed(value, std::abs(value) < 9.95 ? 2 : std::abs(value) < 99.5 ? 1 : 0);
}

std::string span_text(double seconds)
{
    const TimeUnit& unit = unit_of(seconds);
    return join(in_unit(seconds, unit), " ", unit.name);
}

// Value and interval in one unit.
std::string span_text(double seconds, const std::optional<Interval>& interval)
{
    if (!interval) return span_text(seconds);
    const TimeUnit& unit = unit_of(std::max({std::abs(seconds), std::abs(interval->low), std::abs(interval->high)}));
    return join(in_unit(seconds, unit), " ", unit.name, " (", in_unit(interval->low, unit), " to ",
                in_unit(interval->high, unit), " ", unit.name, ")");
}

std::string mean_text(const Mean& mean)
{
    return span_text(mean.value, interval_of(mean));
}

std::string slowdown_of(const Mean& mean)
{
    const std::optional<Interval> interval = interval_of(mean);
    return signed_percent(mean.value) + (interval ? " (" + range(*interval) + ")" : "");
}

std::string every(const CheckpointGroup& group)
{
    if (!group.daly_s) return "no cost was found";
    return "every " + span_text(*group.daly_s, group.daly_interval);
}

std::string or_dash(const std::optional<double>& value, std::string (*text)(double))
{
    return value ? text(*value) : "-";
}

std::string speed(double bytes_per_s)
{
    return base::speed_text(bytes_per_s);
}

std::string two_digits(double value)
{
    return fixed(value, 2);
}

std::string percent_of(double value)
{
    return percent(value);
}

// The parts of a setting's name, the most important ones first.
std::vector<std::string> words_of_setting(const CheckpointSetting& setting)
{
    const auto known = [](const std::string& text) { return text.empty() ? "unknown" : text; };
    return {join(setting.mode, " ", setting.format),
            "content " + setting.content,
            "by " + setting.by,
            setting.fsync ? "fsync" : "no fsync",
            counted(static_cast<std::size_t>(setting.ranks), "rank"),
            "model " + known(setting.model),
            "compress " + known(setting.compress)};
}

// Names a setting of a restart: its format, and the other parts in which the report's restarts differ. The mode (sync,
// async) is no part of it.
std::string restart_name(const CheckpointSetting& setting, const CheckpointReport& report)
{
    std::string name = setting.format;
    const std::vector<std::string> own = words_of_setting(setting);
    for (std::size_t w = 1; w < own.size(); ++w)
        if (std::any_of(report.restarts.begin(), report.restarts.end(),
                        [&](const RestartGroup& group) { return words_of_setting(group.setting)[w] != own[w]; }))
            name += ", " + own[w];
    return name;
}

CheckpointTable saves_table(const CheckpointReport& report)
{
    CheckpointTable table{"What a save takes",
                          {"Setting", "noise", "saves", "stall", "copy", "write", "sync", "speed", "bytes",
                           "bytes per parameter", "share of time", "share of an epoch"},
                          {},
                          2,
                          "Stall: time that the training thread of the slowest rank was held, with its 95 % interval "
                          "over saves. Speed: bytes of all ranks over the time of write and sync."};
    for (const CheckpointGroup& group : report.groups)
        table.rows.push_back({name_of(group.setting, report), group.noise.name, join(group.saves),
                              mean_text(group.stall_s), span_text(group.copy_s), span_text(group.write_s),
                              span_text(group.sync_s), or_dash(group.bytes_per_s, speed), base::bytes_text(group.bytes),
                              or_dash(group.bytes_per_parameter, two_digits), or_dash(group.time_percent, percent_of),
                              or_dash(group.epoch_percent, percent_of)});
    return table;
}

CheckpointTable between_table(const CheckpointReport& report)
{
    CheckpointTable table{"Steps during an asynchronous save",
                          {"Setting", "noise", "saves", "compared", "slowdown of the steps", "time per save", "by"},
                          {},
                          2,
                          "Pairs: the steps after a save's own step until it was written, against the steps right "
                          "before and after, under the same noise; the save is the unit. Design: the effect of "
                          "job.checkpoint in randomised slots, on all steps of its slots."};
    for (const CheckpointGroup& group : report.groups)
        if (group.setting.is_async())
            table.rows.push_back({name_of(group.setting, report), group.noise.name, join(group.saves),
                                  join(group.pairs), group.between_percent ? slowdown_of(*group.between_percent) : "-",
                                  group.between_s ? mean_text(*group.between_s) : "-",
                                  group.by_design   ? "design"
                                  : group.between_s ? "pairs"
                                                    : "-"});
    return table;
}

CheckpointTable interval_table(const CheckpointReport& report)
{
    const CheckpointQuestion& question = report.question;
    CheckpointTable table{
        join("How often to write one, for a failure every ", span_text(question.mtbf_s)),
        {"Setting", "noise", "cost", "Young", "Daly", "restart", "lost", "checkpoints", "rework", "restarts"},
        {},
        2,
        join("Cost: stall, and the time by which it lengthens the steps in between. Lost: expected share of time at "
             "Daly's interval, the sum of the next three columns. Restart: ",
             question.restart_s        ? "as given."
             : report.restarts.empty() ? "as long as the bytes take to write."
                                       : "as measured; without such a restart, as long as the bytes take to write.")};
    if (question.budget_percent)
        table.head.push_back(join("checkpoints within ", base::format(*question.budget_percent), " %"));
    for (const CheckpointGroup& group : report.groups) {
        if (group.noise.name == several_noises) continue;
        std::vector<std::string>& row = table.rows.emplace_back();
        row = {name_of(group.setting, report), group.noise.name, mean_text(group.cost_s),
               or_dash(group.young_s, span_text)};
        if (group.daly_s) {
            const LostShares lost = lost_shares(*group.daly_s, group.costs);
            row.insert(row.end(), {every(group).substr(std::string{"every "}.size()), span_text(group.costs.restart_s),
                                   percent(100.0 * lost.total()), percent(100.0 * lost.checkpoints),
                                   percent(100.0 * lost.rework), percent(100.0 * lost.restarts)});
        } else
            row.insert(row.end(), {"-", span_text(group.costs.restart_s), "-", "-", "-", "-"});
        if (question.budget_percent)
            row.push_back(!group.budget_s                    ? "-"
                          : *group.daly_s >= *group.budget_s ? "yes"
                                                             : "every " + span_text(*group.budget_s));
    }
    return table;
}

CheckpointTable restart_table(const CheckpointReport& report)
{
    CheckpointTable table{
        "What a restart takes",
        {"Format", "noise", "restarts", "time", "find and verify", "read", "bytes"},
        {},
        2,
        "Time: finding the newest sound checkpoint on rank 0, and reading it on the slowest rank, with "
        "its 95 % interval over restarts. The start of the job is not part of it. Bytes: of all ranks."};
    for (const RestartGroup& group : report.restarts)
        table.rows.push_back({restart_name(group.setting, report), group.noise.name, join(group.restarts),
                              mean_text(group.s), span_text(group.verify_s), span_text(group.read_s),
                              base::bytes_text(group.bytes)});
    return table;
}

CheckpointTable cost_table(const CheckpointReport& report)
{
    CheckpointTable table{"Expected share of time lost, by interval",
                          {"Setting", "noise", "Daly / 4", "Daly / 2", "Daly", "Daly x 2", "Daly x 4"},
                          {},
                          2,
                          "Checkpoints, work done again after failures, and restarts. cost.csv has the whole curve."};
    for (const CheckpointGroup& group : report.groups) {
        if (!group.daly_s) continue;
        std::vector<std::string>& row = table.rows.emplace_back();
        row = {name_of(group.setting, report), group.noise.name};
        for (const double factor : {0.25, 0.5, 1.0, 2.0, 4.0}) {
            const double interval_s = factor * *group.daly_s;
            row.push_back(
                join(percent(100.0 * lost_shares(interval_s, group.costs).total()), " at ", span_text(interval_s)));
        }
    }
    return table;
}

// The groups of each setting; the setting that loses least comes first.
std::vector<std::vector<const CheckpointGroup*>> by_setting(const CheckpointReport& report)
{
    std::vector<std::vector<const CheckpointGroup*>> settings;
    for (const CheckpointGroup& group : report.groups) {
        if (settings.empty() || settings.back().front()->setting != group.setting) settings.emplace_back();
        settings.back().push_back(&group);
    }
    const auto lost = [](const std::vector<const CheckpointGroup*>& groups) {
        const CheckpointGroup& first = *groups.front();
        return first.daly_s ? lost_shares(*first.daly_s, first.costs).total() : 0.0;
    };
    std::stable_sort(settings.begin(), settings.end(), [&](const auto& a, const auto& b) { return lost(a) < lost(b); });
    return settings;
}

}  // namespace

std::string name_of(const CheckpointSetting& setting, const CheckpointReport& report)
{
    // Words in which all settings agree are left out, but for the first.
    const std::vector<std::string> own = words_of_setting(setting);
    std::string name = own.front();
    for (std::size_t w = 1; w < own.size(); ++w) {
        const bool differs = std::any_of(report.groups.begin(), report.groups.end(), [&](const CheckpointGroup& group) {
            return words_of_setting(group.setting)[w] != own[w];
        });
        if (differs) name += ", " + own[w];
    }
    return name;
}

std::string answer_of(const CheckpointReport& report)
{
    std::string answer;
    // Settings in the answer: the best one of each training, also under noise, and the best one of its other mode.
    std::vector<CheckpointSetting> answered;
    std::size_t others = 0;
    for (const std::vector<const CheckpointGroup*>& groups : by_setting(report)) {
        const CheckpointGroup& first = *groups.front();
        const auto of_training = [&](const CheckpointSetting& setting) {
            return setting.ranks == first.setting.ranks && setting.model == first.setting.model;
        };
        const auto of_mode = [&](const CheckpointSetting& setting) {
            return of_training(setting) && setting.is_async() == first.setting.is_async();
        };
        if (std::ranges::any_of(answered, of_mode)) {
            ++others;
            continue;
        }
        const bool best = std::ranges::none_of(answered, of_training);
        answered.push_back(first.setting);
        answer += join(answer.empty() ? "" : "; or ", name_of(first.setting, report),
                       first.noise.name == no_noise ? "" : " beside " + first.noise.name, ": ", every(first));
        if (first.daly_s && first.between_percent)
            answer += " at " + slowdown_of(*first.between_percent) + " of a step";
        for (std::size_t g = 1; best && g < groups.size(); ++g)
            if (groups[g]->noise.stresses && groups[g]->noise.name != several_noises)
                answer += join("; beside ", groups[g]->noise.name, " ", every(*groups[g]));
    }
    if (others > 0) answer += join("; ", counted(others, "other setting"), " in the table");
    return answer;
}

std::vector<CheckpointTable> tables_of(const CheckpointReport& report)
{
    std::vector<CheckpointTable> tables{interval_table(report), saves_table(report), between_table(report),
                                        restart_table(report), cost_table(report)};
    std::erase_if(tables, [](const CheckpointTable& table) { return table.rows.empty(); });
    return tables;
}

std::vector<std::string> notes_of(const CheckpointReport& report)
{
    std::vector<std::string> notes;
    // Words that all settings have in common, which their names lack.
    const std::vector<std::string> words = words_of_setting(report.groups.front().setting);
    std::vector<std::string> common;
    for (std::size_t w = 1; w < words.size(); ++w)
        if (std::all_of(report.groups.begin(), report.groups.end(),
                        [&](const CheckpointGroup& group) { return words_of_setting(group.setting)[w] == words[w]; }))
            common.push_back(words[w]);
    if (!common.empty()) notes.push_back("All saves: " + base::join_words(common, ", "));
    for (const CheckpointRun& run : report.runs)
        if (!run.cut_off.empty()) notes.push_back(run.cut_off);
    notes.insert(notes.end(), report.notes.begin(), report.notes.end());
    return notes;
}

void print(std::ostream& out, const CheckpointReport& report)
{
    out << base::wrapped(answer_of(report), 0, 100);
    for (const CheckpointTable& table : tables_of(report)) {
        std::vector<std::vector<std::string>> lines{table.head};
        lines.insert(lines.end(), table.rows.begin(), table.rows.end());
        out << "\n" << table.title << "\n" << base::table_text(lines, table.left);
        out << base::wrapped(table.explanation, 0, 100);
    }
    if (const std::vector<std::string> notes = notes_of(report); !notes.empty()) {
        out << "\n";
        for (const std::string& note : notes) out << base::printable(note) << "\n";
    }
}

void print_markdown(std::ostream& out, const CheckpointReport& report)
{
    out << "## " << plain_markdown(answer_of(report)) << "\n";
    for (const CheckpointTable& table : tables_of(report)) {
        std::vector<std::vector<std::string>> rows = table.rows;
        for (std::vector<std::string>& row : rows)
            for (std::string& cell : row) cell = plain_markdown(cell);
        out << "\n### " << table.title << "\n\n"
            << markdown_table(table.head, rows) << "\n"
            << table.explanation << "\n";
    }
    if (const std::vector<std::string> notes = notes_of(report); !notes.empty()) out << "\n";
    for (const std::string& note : notes_of(report)) out << "- " << plain_markdown(note) << "\n";
}

}  // namespace analysis
