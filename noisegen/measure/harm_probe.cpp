// SPDX-License-Identifier: Apache-2.0
#include "noisegen/measure/harm_probe.hpp"

#include "base/contract/run_directory.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/figures.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/words.hpp"
#include "noisegen/measure/probe.hpp"
#include "noisegen/stressors/memory/stream_kernels.hpp"
#include "noisegen/stressors/registry.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <optional>

namespace noisegen {

namespace {

constexpr const char* peer_label = "peer";
constexpr base::Nanoseconds slot_of_waiting = std::chrono::seconds{1};  // default for fsync and step

// A victim: one that works in slices (with the kind of its slices), or one that waits.
struct VictimCard {
    std::string name;
    std::string unit;
    std::optional<Slice::Kind> slice;
};

const std::vector<VictimCard>& victim_cards()
{
    static const std::vector<VictimCard> cards{{"bandwidth", "bytes/s", Slice::Kind::read},
                                               {"latency", "loads/s", Slice::Kind::chase},
                                               {"llc", "loads/s", Slice::Kind::cache},
                                               {"fsync", "syncs/s", {}},
                                               {"tcp", "messages/s", {}},
                                               {"step", "steps/s", {}}};
    return cards;
}

const VictimCard& card_of(const std::string& victim)
{
    const auto& cards = victim_cards();
    return *std::ranges::find_if(cards, [&](const VictimCard& card) { return card.name == victim; });
}

// The peers' commands may contain characters that are special in schedules, so they are inserted after parsing.
Schedule schedule_with_peers(const HarmProbe& asked, const std::vector<std::string>& stressors_asked)
{
    std::vector<std::string> words = stressors_asked;
    for (std::size_t i = 0; i < asked.peers.size(); ++i)
        words.push_back(base::join(peer_label, i, "=job.run[command=", peer_label, i, "]"));
    Schedule schedule = probe_schedule(asked.probe, words);
    for (std::size_t i = 0; i < asked.peers.size(); ++i)
        for (const FactorLevel& level : schedule.levels)
            if (level.factor == base::join(peer_label, i)) {
                Configured& peer = schedule.stressors[level.stressor];
                peer.settings =
                    stressors().settings(*peer.card, {{"command", "while ( " + asked.peers[i] + " ); do :; done"}});
            }
    return schedule;
}

// A peer is named by its command, a level by its stressor.
Harm named(const HarmProbe& asked, const FactorLevel& level)
{
    for (std::size_t i = 0; i < asked.peers.size(); ++i)
        if (level.factor == base::join(peer_label, i))
            return {.name = asked.peers[i], .stressor = peer_label, .level = ""};
    return {.name = base::factor_name(level.factor, level.level), .stressor = level.factor, .level = level.level};
}

// Victims that are measured at the same time: memory victims work in slices of one thread; each victim that waits has a
// pass of its own.
struct Pass {
    std::string what;
    std::vector<std::string> victims{};
};

std::vector<Pass> passes_of(const std::vector<std::string>& victims)
{
    std::vector<Pass> passes;
    Pass memory{.what = "memory"};
    for (const std::string& victim : victims)
        if (card_of(victim).slice) memory.victims.push_back(victim);
    if (!memory.victims.empty()) passes.push_back(memory);
    for (const std::string& victim : victims)
        if (!card_of(victim).slice) passes.push_back({.what = victim, .victims = {victim}});
    return passes;
}

base::Nanoseconds length_of(const Probe& probe, const Schedule& schedule)
{
    return schedule.block_length() * probe.blocks;
}

std::unique_ptr<StandingVictim> make_victim(const HarmProbe& asked, const std::string& victim, base::Nanoseconds length)
{
    const int cpu = asked.probe.victim;
    if (victim == "fsync") return make_fsync_victim(cpu, asked.scratch);
    if (victim == "tcp") return make_tcp_victim(cpu);
    return make_step_victim(cpu, asked.model, length);
}

// The first block is a warm-up.
void leave_out_first_block(ProbeRun& run)
{
    std::erase_if(run.table, [](const Slot& slot) { return slot.block == 0; });
    if (run.blocks > 0) --run.blocks;
}

// Work of the victims of a pass.
struct Measured {
    Schedule schedule;
    ProbeRun run{};
    std::vector<WorkByBlock> work{};  // one element per victim of the pass
};

Measured measure_pass(const HarmProbe& given, const Pass& pass, const std::vector<std::string>& noises,
                      const Victim::Setup& setup)
{
    HarmProbe asked = given;
    const bool waits = !card_of(pass.victims.front()).slice && pass.what != "tcp";
    if (waits && !asked.slot_given) asked.probe.slot = slot_of_waiting;
    ++asked.probe.blocks;
    Measured measured{.schedule = schedule_with_peers(asked, noises)};
    check_probe(asked.probe, measured.schedule, setup, false);
    if (card_of(pass.victims.front()).slice) {
        measured.run = run_probe(asked.probe, measured.schedule, setup);
        leave_out_first_block(measured.run);
        const VictimDone done =
            victim_done(measured.schedule, measured.run.table, measured.run.start_ns, measured.run.slices);
        for (const std::string& victim : pass.victims)
            measured.work.push_back(work_of_kind(done, *card_of(victim).slice));
        return measured;
    }
    const auto victim = make_victim(asked, pass.what, length_of(asked.probe, measured.schedule));
    measured.run = run_noise(asked.probe, measured.schedule, pass.what, [&victim] { victim->start(); });
    leave_out_first_block(measured.run);
    measured.work.push_back(
        work_in_slots(measured.schedule.levels.size(), measured.run.table, measured.run.start_ns, victim->stop()));
    return measured;
}

void add_pass(HarmReport& report, const HarmProbe& asked, const Pass& pass, const Measured& measured)
{
    if (report.harms.empty()) {
        report.blocks = measured.run.blocks;
        for (std::size_t i = 0; i < measured.schedule.levels.size(); ++i) {
            report.harms.push_back(named(asked, measured.schedule.levels[i]));
            report.harms.back().own_bytes_per_s = measured.run.levels[i].bytes_per_s();
            report.harms.back().own_operations_per_s = measured.run.levels[i].operations_per_s();
        }
    }
    report.blocks = std::min(report.blocks, measured.run.blocks);
    for (std::size_t i = 0; i < pass.victims.size(); ++i) {
        report.victims.push_back(pass.victims[i]);
        report.quiet_per_second.push_back(quiet_per_second(measured.work[i]));
        for (std::size_t level = 0; level < report.harms.size(); ++level)
            report.harms[level].slowdowns.push_back(slowdown(measured.work[i], level));
    }
}

std::string factor_text(double value)
{
    return base::fixed(value, value < 99.95 ? 2 : 0);
}

std::string cell(const Estimate& estimate)
{
    if (std::isnan(estimate.value)) return "-";
    const std::string value = factor_text(estimate.value);
    if (std::isnan(estimate.low)) return value;
    return value + " [" + factor_text(estimate.low) + ", " + factor_text(estimate.high) + "]";
}

std::string quiet_text(const std::string& victim, double per_second)
{
    if (std::isnan(per_second)) return "-";
    if (victim == "bandwidth") return base::speed_text(per_second);
    if (victim == "latency" || victim == "llc") return base::join(std::round(1e10 / per_second) / 10.0, " ns");
    if (victim == "tcp") return base::join(std::round(1e7 / per_second) / 10.0, " us");
    return base::join(std::round(1e5 / per_second) / 100.0, " ms");
}

std::string traffic_of(const Harm& harm)
{
    if (harm.own_bytes_per_s > 0.0) return base::speed_text(harm.own_bytes_per_s);
    if (harm.own_operations_per_s > 0.0) return base::operations_text(harm.own_operations_per_s);
    return harm.stressor == peer_label ? "-" : "0";
}

void print_harm(std::ostream& out, const HarmProbe& asked, const HarmReport& report)
{
    std::vector<std::vector<std::string>> lines{
        {(asked.probe.cpus.size() == 1 ? "noise on CPU " : "noise on CPUs ") + base::format_cpus(asked.probe.cpus),
         "own traffic"},
        {"quiet", "0"}};
    for (std::size_t i = 0; i < report.victims.size(); ++i) {
        lines[0].push_back(report.victims[i]);
        lines[1].push_back(quiet_text(report.victims[i], report.quiet_per_second[i]));
    }
    for (const Harm& harm : report.harms) {
        lines.push_back({base::printable(harm.name), traffic_of(harm)});
        for (const Estimate& slowdown : harm.slowdowns) lines.back().push_back(cell(slowdown));
    }
    out << base::table_text(lines, 1) << "Time of a victim on CPU " << asked.probe.victim
        << " relative to quiet, with 95 % intervals over " << report.blocks << " blocks.\n";
}

nlohmann::ordered_json harm_json(const HarmReport& report)
{
    auto harms = nlohmann::ordered_json::array();
    for (const Harm& harm : report.harms)
        for (std::size_t i = 0; i < report.victims.size(); ++i)
            harms.push_back({{"noise", harm.name},
                             {"victim", report.victims[i]},
                             {"slowdown", harm.slowdowns[i].value},
                             {"low", harm.slowdowns[i].low},
                             {"high", harm.slowdowns[i].high},
                             {"blocks", harm.slowdowns[i].blocks}});
    return harms;
}

}  // namespace

const std::vector<std::string>& victim_names()
{
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        for (const VictimCard& card : victim_cards()) all.push_back(card.name);
        return all;
    }();
    return names;
}

std::string unit_of_victim(const std::string& victim)
{
    return card_of(victim).unit;
}

std::vector<std::string> default_harm_stressors(const base::CpuSet& cpus, const std::filesystem::path& scratch)
{
    std::vector<std::string> words = default_probe_stressors(cpus);
    const auto in_words = [&words](const std::string& name) {
        return std::ranges::any_of(
            words, [&](const std::string& word) { return word == name || word.starts_with(name + "["); });
    };
    for (const StressorCard* card : stressors().cards()) {
        const bool takes_only_room = card->name == "capacity.hog";
        const bool is_work = card->role == base::Role::treatment && card->cpus == StressorCard::Cpus::own;
        if (!is_work || takes_only_room || card->name == "job.run" || in_words(card->name)) continue;
        const base::Settings settings = stressors().settings(*card, {});
        const bool between_ranks = card->needs(settings).mpi;
        if (between_ranks) continue;
        words.push_back(card->name +
                        (settings.all().contains("directory") ? "[directory=" + scratch.string() + "]" : ""));
    }
    return words;
}

void write_harm_csv(const std::filesystem::path& file, const HarmReport& report)
{
    base::CsvWriter csv{file,
                        {"noise", "stressor", "level", "victim", "blocks", "slowdown", "low", "high", "quiet_per_s",
                         "unit", "own_bytes_per_s", "own_operations_per_s"}};
    for (const Harm& harm : report.harms)
        for (std::size_t i = 0; i < report.victims.size(); ++i) {
            const Estimate& slowdown = harm.slowdowns[i];
            csv.row(harm.name, harm.stressor, harm.level, report.victims[i], slowdown.blocks, slowdown.value,
                    slowdown.low, slowdown.high, report.quiet_per_second[i], unit_of_victim(report.victims[i]),
                    harm.own_bytes_per_s, harm.own_operations_per_s);
        }
}

int probe_harm(const HarmProbe& asked)
{
    const Victim::Setup setup = Victim::setup(asked.probe.victim, asked.probe.array);
    const std::vector<std::string> noises =
        asked.probe.stressors.empty() ? default_harm_stressors(asked.probe.cpus, asked.scratch) : asked.probe.stressors;
    Schedule checked = schedule_with_peers(asked, noises);
    check_probe(asked.probe, checked, setup);
    std::optional<base::ClaimedPart> claimed;
    if (!asked.probe.out.empty()) claimed.emplace(asked.probe.out, base::part::probe);
    nlohmann::ordered_json record = probe_record(asked.probe, checked, setup);

    if (std::ranges::find(asked.victims, "step") != asked.victims.end()) training_program();

    HarmReport report;
    const base::CpuSet allowed = base::allowed_cpus();
    for (const Pass& pass : passes_of(asked.victims)) {
        base::bind_this_thread(allowed);  // the previous pass left this thread on the noise's CPUs
        const Measured measured = measure_pass(asked, pass, noises, setup);
        if (measured.run.a_job_ended()) {
            base::warn("a --peer ended with an error, or runs in the background: try its command alone");
            return base::exit_promise_not_kept;
        }
        if (measured.run.blocks < 2) {
            base::warn("stopped before two blocks were complete for each victim: nothing to report");
            return base::exit_promise_not_kept;
        }
        add_pass(report, asked, pass, measured);
    }
    print_harm(std::cout, asked, report);
    if (claimed) {
        record["victims"] = report.victims;
        record["slot_ns_of_fsync_and_step"] = (asked.slot_given ? asked.probe.slot : slot_of_waiting).count();
        record["peers"] = asked.peers;
        record["blocks"] = report.blocks;
        record["confidence_percent"] = 95;
        record["harm"] = harm_json(report);
        claimed->keep();
        write_harm_csv(claimed->path() / "harm.csv", report);
        base::write_whole(claimed->path() / "harm.json", base::json_text(record) + "\n");
    }
    base::flush_stdout();
    return base::exit_fine;
}

}  // namespace noisegen
