// SPDX-License-Identifier: Apache-2.0
#include "noisegen/measure/pressure_probe.hpp"

#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/figures.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/words.hpp"
#include "noisegen/measure/pressure.hpp"
#include "noisegen/measure/probe.hpp"
#include "noisegen/stressors/registry.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <optional>
#include <utility>

namespace noisegen {

namespace {

constexpr std::size_t least_blocks = 3;
constexpr const char* command_label = "command";

// A stressor, with its effect and the program's on the kind of victim work by which it is calibrated.
struct PressedOn {
    const PressureKind* kind;
    bool in_bytes;
    std::vector<std::string> names{};  // names of the levels
    Slowdowns slowdowns{};
    Pressure pressure{};
};

// The command may contain characters that are special in schedules, so it is inserted after parsing.
Schedule schedule_with(const PressureProbe& asked)
{
    std::vector<std::string> words{"placebo", std::string{command_label} + "=job.run[command=true]"};
    words.insert(words.end(), asked.probe.stressors.begin(), asked.probe.stressors.end());
    Schedule schedule = probe_schedule(asked.probe, words);
    for (Configured& stressor : schedule.stressors)
        if (stressor.card->name == "job.run")
            stressor.settings =
                stressors().settings(*stressor.card, {{"command", "while ( " + asked.command + " ); do :; done"}});
    return schedule;
}

std::size_t level_named(const Schedule& schedule, const std::string& label)
{
    const auto found =
        std::ranges::find_if(schedule.levels, [&](const FactorLevel& level) { return level.factor == label; });
    return static_cast<std::size_t>(found - schedule.levels.begin());
}

const PressureKind* kind_named(const std::string& card)
{
    const auto& kinds = pressure_kinds();
    const auto found = std::ranges::find_if(kinds, [&](const PressureKind& kind) { return kind.stressor == card; });
    return found == kinds.end() ? nullptr : &*found;
}

void check_kinds(const Schedule& schedule)
{
    for (const FactorLevel& level : schedule.levels) {
        const std::string& card = schedule.stressors[level.stressor].card->name;
        if (level.factor == command_label || card == "placebo" || kind_named(card) != nullptr) continue;
        std::vector<std::string> names;
        for (const PressureKind& kind : pressure_kinds()) names.push_back(kind.stressor);
        base::fail_usage("--command can be compared with ", base::join_words(names, ", "), ", not with ", card);
    }
}

std::vector<PressedOn> pressures_of(const Schedule& schedule, const ProbeRun& run)
{
    const VictimDone done = victim_done(schedule, run.table, run.start_ns, run.slices);
    std::vector<PressedOn> all;
    for (const PressureKind& kind : pressure_kinds()) {
        PressedOn one{.kind = &kind, .in_bytes = false};
        std::vector<std::size_t> levels;
        std::vector<double> reached;
        for (std::size_t i = 0; i < schedule.levels.size(); ++i) {
            if (schedule.stressors[schedule.levels[i].stressor].card->name != kind.stressor) continue;
            one.in_bytes = run.levels[i].bytes_per_s() > 0.0;
            levels.push_back(i);
            reached.push_back(one.in_bytes ? run.levels[i].bytes_per_s() : run.levels[i].operations_per_s());
        }
        if (levels.empty()) continue;
        one.slowdowns = slowdowns(done.blocks, kind.slice, level_named(schedule, command_label), levels, reached);
        if (one.slowdowns.program.size() < least_blocks)
            base::fail("too few of the victim's measurements fit into a slot: give a longer --slot");
        one.pressure = pressure(one.slowdowns);
        all.push_back(std::move(one));
    }
    return all;
}

std::string figure_of(double value)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.*f", std::abs(value) < 9.995 ? 2 : 1, value);
    return text;
}

std::string amount(const PressedOn& one, double level)
{
    if (level <= 0.0) return "0";
    return one.in_bytes ? base::speed_text(level) : base::operations_text(level);
}

void print_pressures(std::ostream& out, const PressureProbe& asked, const std::vector<PressedOn>& all,
                     std::size_t blocks)
{
    std::vector<std::vector<std::string>> lines{
        {"the victim's", "takes longer by", "95 % interval", "as under", "at", "95 % interval"}};
    for (const PressedOn& one : all) {
        const Pressure& found = one.pressure;
        std::vector<std::string> line{one.kind->victim, figure_of(found.program.value) + " %",
                                      figure_of(found.program.low) + " to " + figure_of(found.program.high) + " %",
                                      one.kind->stressor};
        const std::string last = amount(one, one.slowdowns.levels.back());
        if (!found.felt)
            line.insert(line.end(), {"-", "not slowed by " + last});
        else
            line.insert(line.end(),
                        {found.level ? amount(one, *found.level) : "more than " + last,
                         amount(one, found.low) + " to " + (found.high ? amount(one, *found.high) : "more")});
        lines.push_back(std::move(line));
    }
    out << base::printable(asked.command) << " on CPU" << (asked.probe.cpus.size() == 1 ? " " : "s ")
        << base::format_cpus(asked.probe.cpus) << ", a victim on CPU " << asked.probe.victim << ", " << blocks
        << " blocks\n"
        << base::table_text(lines, 1);
}

nlohmann::ordered_json to_json(const PressedOn& one)
{
    const auto percent = [](const Estimate& estimate) {
        return nlohmann::ordered_json{
            {"slowdown_percent", estimate.value}, {"low_percent", estimate.low}, {"high_percent", estimate.high}};
    };
    const auto or_null = [](const std::optional<double>& value) {
        return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
    };
    nlohmann::ordered_json json{{"stressor", one.kind->stressor},
                                {"victim", one.kind->victim},
                                {"unit", one.in_bytes ? "bytes/s" : "operations/s"},
                                {"felt", one.pressure.felt},
                                {"level", or_null(one.pressure.level)},
                                {"low", one.pressure.low},
                                {"high", or_null(one.pressure.high)},
                                {"command", percent(one.pressure.program)},
                                {"levels", nlohmann::ordered_json::array()}};
    for (std::size_t i = 0; i < one.slowdowns.levels.size(); ++i) {
        nlohmann::ordered_json level = percent(one.pressure.levels[i]);
        level["level"] = one.slowdowns.levels[i];
        json["levels"].push_back(std::move(level));
    }
    return json;
}

}  // namespace

std::vector<std::string> default_pressure_stressors(const std::filesystem::path& scratch)
{
    std::vector<std::string> all;
    for (const PressureKind& kind : pressure_kinds())
        all.push_back(kind.stressor + "[" + (kind.stressor == "io.write" ? "directory=" + scratch.string() + "," : "") +
                      "rate=25%|50%|75%|100%]");
    return all;
}

int probe_pressure(const PressureProbe& given)
{
    if (std::cmp_less(given.probe.blocks, least_blocks))
        base::fail_usage("--blocks: --command takes at least ", least_blocks, ", not ", given.probe.blocks);
    PressureProbe asked = given;
    if (asked.probe.stressors.empty()) asked.probe.stressors = default_pressure_stressors(asked.scratch);
    Victim::Setup setup = Victim::setup(asked.probe.victim, asked.probe.array);
    setup.scratch = asked.scratch;
    Schedule schedule = schedule_with(asked);
    check_kinds(schedule);
    check_probe(asked.probe, schedule, setup);
    std::optional<base::ClaimedPart> claimed;
    if (!asked.probe.out.empty()) claimed.emplace(asked.probe.out, base::part::probe);
    nlohmann::ordered_json record = probe_record(asked.probe, schedule, setup);

    const ProbeRun run = run_probe(asked.probe, schedule, setup);
    if (run.a_job_ended()) {
        base::warn("the command ended with an error, or runs in the background: ", asked.command);
        return base::exit_promise_not_kept;
    }
    if (run.blocks < least_blocks) {
        base::warn("stopped before three blocks were complete: nothing to report");
        return base::exit_promise_not_kept;
    }
    const std::vector<PressedOn> all = pressures_of(schedule, run);
    print_pressures(std::cout, asked, all, run.blocks);
    const std::vector<std::string> words = remarks(damage_of(schedule, run));
    for (const std::string& remark : words) std::cout << remark << "\n";
    if (claimed) {
        record["command"] = asked.command;
        record["blocks"] = run.blocks;
        record["confidence_percent"] = 95;
        record["remarks"] = words;
        record["pressures"] = nlohmann::ordered_json::array();
        for (const PressedOn& one : all) record["pressures"].push_back(to_json(one));
        claimed->keep();
        base::write_whole(claimed->path() / base::file::pressure, base::json_text(record) + "\n");
    }
    base::flush_stdout();
    return base::exit_fine;
}

}  // namespace noisegen
