// SPDX-License-Identifier: Apache-2.0
#include "noisegen/cli/commands.hpp"

#include "base/system/stop.hpp"
#include "base/words.hpp"
#include "noisegen/measure/calibrate.hpp"
#include "noisegen/measure/harm_probe.hpp"
#include "noisegen/measure/pressure_probe.hpp"
#include "noisegen/measure/probe.hpp"
#include "noisegen/resources/placement.hpp"
#include "noisegen/stressors/registry.hpp"

#include <algorithm>
#include <iostream>
#include <optional>

namespace noisegen {

namespace {

namespace fs = std::filesystem;

fs::path limits_path(const std::string& given)
{
    return given.empty() ? default_limits_file() : fs::path{given};
}

// Measuring is the work of one process on each node, which can be stopped.
void begin_measuring(const std::string& command)
{
    if (base::local_rank().size > 1)
        base::fail_usage(command, " is one process on each node, not ", base::local_rank().size,
                         ": srun --ntasks-per-node=1, or no mpirun");
    base::stop_on_signals();
    base::stop_with_parent();
}

void add_stressors(base::Options& options, std::vector<std::string>& stressors, const std::string& otherwise)
{
    options.add_positional("STRESSOR", stressors, "as in a schedule, with options; without: " + otherwise, 0);
    options.plug_ins("STRESSOR", words_of_stressors());
}

base::Section exit_status(const std::string& stopped)
{
    return {.title = "Exit status",
            .text = {},
            .entries = {{"0", "fine"}, {"1", "failed"}, {"2", "wrong usage"}, {"3", stopped}}};
}

int parse_cpu(const std::string& word)
try {
    return base::parse<int>(word);
} catch (const base::UsageError& error) {
    base::fail_usage("--victim: ", error.what());
}

// --victim: a CPU, what is measured there, or both: "0,bandwidth,fsync".
struct VictimWords {
    std::optional<int> cpu;
    std::vector<std::string> kinds;
};

VictimWords parse_victim(const std::string& text)
{
    VictimWords victim;
    const std::vector<std::string>& kinds = victim_names();
    for (const std::string& word : base::split(text, ',')) {
        if (std::find(kinds.begin(), kinds.end(), word) != kinds.end()) {
            if (std::find(victim.kinds.begin(), victim.kinds.end(), word) == victim.kinds.end())
                victim.kinds.push_back(word);
            continue;
        }
        if (word == "auto") continue;
        const bool is_number = !word.empty() && word.find_first_not_of("-0123456789") == std::string::npos;
        if (!is_number)
            base::fail_usage("--victim: a CPU, or ", base::join_words(kinds, ","), ", not '", word, "'",
                             base::did_you_mean(word, kinds));
        if (victim.cpu) base::fail_usage("--victim: one CPU, not ", *victim.cpu, " and ", word);
        victim.cpu = parse_cpu(word);
    }
    return victim;
}

class Calibrate : public base::Command {
 public:
    Calibrate() : Command{"noisegen calibrate", "finds what each stressor reaches on this node, for rate=60%"}
    {
        wish_.cpus = "all";
        options.description(
            "Runs each stressor as fast as it goes on 1, 2, 4, ... and all of the cores, in rounds, each in a random "
            "order of its own, and keeps the worst, median and best round. A rate in percent is a share of the worst.");
        add_stressors(options, calibration_.stressors, "all that can be held to a rate");
        options.group("What");
        options.add("rounds", rounds_, "each measures every stressor on every number of cores once", "NUMBER");
        options.add("round", calibration_.round, "length of one measurement", "TIME");
        options.add("seed", calibration_.seed, "of the random order in each round", "NUMBER");
        options.add("victim", victim_,
                    "also tries all shapes of memory.stream beside a victim on this CPU, for shape=worst", "CPU");
        options.group("Where");
        add_placement(options, wish_, avoid_);
        options.group("How much");
        add_budgets(options, calibration_.budgets);
        options.group("Records");
        add_limits_option(options, limits_file_);
        options.section(exit_status("stopped before the last round: nothing was added"));
        options.example("noisegen calibrate --cpus 4-7");
        options.example("    all stressors, on one, two and four cores");
        options.example("noisegen calibrate 'memory.stream[shape=read|update]' --cpus 4-7");
        options.example("    adds two shapes; what was found for others stays");
        options.see_also("noisegen(1), noisegen-limits(1)");
    }

    int run() override
    {
        begin_measuring("calibrate");
        if (rounds_ < 1 || rounds_ > 10'000) base::fail_usage("--rounds: 1 to 10000, not ", rounds_);
        calibration_.rounds = static_cast<std::size_t>(rounds_);
        constexpr base::Nanoseconds shortest{10'000'000};
        constexpr base::Nanoseconds longest = std::chrono::hours{1};
        if (calibration_.round < shortest || calibration_.round > longest)
            base::fail_usage("--round: 10ms to 1h, not ", base::format(calibration_.round));
        Avoid avoid = parse_avoid(avoid_);
        if (!victim_.empty()) {
            calibration_.victim = parse_cpu(victim_);
            base::check_cpus({*calibration_.victim});
            avoid.cpus.insert(*calibration_.victim);
        }
        calibration_.cpus = choose_cpus(wish_, this_machine(base::allowed_cpus(), avoid));
        calibration_.limits_file = limits_path(limits_file_);
        return calibrate(calibration_);
    }

 private:
    Calibration calibration_;
    std::string victim_;
    CpuRequest wish_;
    std::vector<std::string> avoid_;
    std::string limits_file_;
    std::int64_t rounds_ = static_cast<std::int64_t>(calibration_.rounds);
};

class ShowLimits : public base::Command {
 public:
    ShowLimits() : Command{"noisegen limits", "shows what noisegen calibrate found on this node"}
    {
        add_limits_option(options, limits_file_);
        options.see_also("noisegen(1), noisegen-calibrate(1)");
    }

    int run() override
    {
        const NodeLimits limits = read_limits(limits_path(limits_file_));
        if (limits.entries.empty() && !limits.worst)
            base::fail("no limits are known in ", limits.file.string(), "; find them with: noisegen calibrate");
        if (!limits.entries.empty()) print_limits(std::cout, limits.entries);
        if (limits.worst) std::cout << text(*limits.worst) << "\n";
        base::flush_stdout();
        return base::exit_fine;
    }

 private:
    std::string limits_file_;
};

class ProbeCommand : public base::Command {
 public:
    ProbeCommand() : Command{"noisegen probe", "shows what noise on some CPUs takes from memory accesses on another"}
    {
        options.description(
            "A victim on one CPU reads memory, and follows chains of loads through memory and through the last-level "
            "cache, while each stressor in turn is on for a moment on other CPUs, in random order, with quiet between. "
            "What it keeps of its bandwidth, and how much longer its loads take, are shares of quiet.\n\n"
            "Bytes per second are not damage: a stressor that moves little may hurt most. cpu.spin shows what is clock "
            "frequency, placebo what is chance.");
        add_stressors(options, asked_.stressors, "controls, cache and memory stressors");
        options.group("What");
        options.add("command", command_,
                    "a program of yours in the place of noise: which level of memory.stream, cache.llc, io.write and "
                    "network.exchange hurts a victim as much. Words for the shell; started again when it ends",
                    "WORDS");
        options.add("victim", victim_,
                    "the CPU of the victim, to be avoided by noise; auto: the first allowed. With or without it, after "
                    "commas, victims to be slowed down: " +
                        base::join_words(victim_names(), ", "),
                    "CPU,WORD,..");
        options.add("peer", peers_,
                    "another program beside these stressors, words for the shell such as 'stress-ng --cache 1'; "
                    "started again when it ends",
                    "WORDS");
        options.add("victim-model", model_, "of the ddl-train that is the victim of the word step", "MODEL");
        options.add(
            "array", asked_.array,
            "each of the victim's two large arrays; auto: four times the last-level cache, as far as memory allows",
            "SIZE");
        options.add("blocks", asked_.blocks, "each holds every stressor once and quiet several times", "NUMBER");
        options.add("slot", asked_.slot,
                    "how long each is on in a block; if not given, a second beside the victims fsync and step", "TIME");
        options.add("seed", asked_.seed, "of the random order in each block", "NUMBER");
        options.group("Where");
        add_placement(options, wish_, avoid_);
        options.add("scratch", scratch_, "where victims write that do, and stressors beside them", "DIR");
        options.group("How much");
        add_budgets(options, asked_.budgets);
        add_limits_option(options, limits_file_);
        options.group("Records");
        options.add("out", out_, "directory; the results go to OUT/probe/. -: the table on stdout is all", "DIR");
        options.section(
            exit_status("stopped before two blocks (of --command three) were complete, or the command failed"));
        options.section({.title = "Files",
                         .text = "Under OUT/probe/:",
                         .entries = {{"probe.csv", "a row per stressor and level: its own traffic, and the damage"},
                                     {"probe.json", "the same, and who, where, when and how"},
                                     {"probe.svg", "damage against traffic; probe.gp and probe_*.csv draw it again"},
                                     {"pressure.json", "of --command, in the place of these: for interference predict"},
                                     {"harm.csv", "of --victim WORD, in the place of these: a row a noise and victim"},
                                     {"harm.json", "the same, and who, where, when and how"}},
                         .in_help = false});
        add_examples();
    }

    void add_examples()
    {
        options.example("noisegen probe --victim 0 --cpus 4-7 --out probe1");
        options.example("    a table, probe.csv, probe.json and probe.svg: damage against traffic");
        options.example("noisegen probe 'memory.stream[rate=1GiB/s|4GiB/s|16GiB/s]' cpu.spin placebo --cpus 4-7");
        options.example("    how damage grows with the rate");
        options.example("noisegen probe --command './app --fast' --cpus 4-7 --out app");
        options.example("    app/probe/pressure.json; first: noisegen calibrate --cpus 4-7");
        options.example("noisegen probe --victim bandwidth,llc --peer 'stress-ng --cache 1' cache.llc --cpus 1");
        options.example("    how much longer victims take under ours and under another program, in turns");
        options.see_also("noisegen(1), noisegen-calibrate(1)");
    }

    int run() override
    {
        begin_measuring("probe");
        if (options.given("command") && base::trim(command_).empty()) base::fail_usage("--command: which program?");
        const base::CpuSet allowed = base::allowed_cpus();
        const VictimWords words = parse_victim(victim_);
        asked_.victim = words.cpu.value_or(*allowed.begin());
        const bool harm = !words.kinds.empty() || !peers_.empty();
        if (harm && options.given("command"))
            base::fail_usage("--command measures a pressure; beside named victims give the program as --peer");
        for (const std::string& peer : peers_)
            if (base::trim(peer).empty()) base::fail_usage("--peer: which program?");
        base::check_cpus({asked_.victim});
        if (named_cpus(wish_, allowed).contains(asked_.victim))
            base::fail_usage("CPU ", asked_.victim, " is the victim's; make noise on other --cpus");
        Avoid avoid = parse_avoid(avoid_);
        avoid.cpus.insert(asked_.victim);
        asked_.cpus = choose_cpus(wish_, this_machine(allowed, avoid));
        asked_.limits_file = limits_file_;
        if (out_ != "-" && out_ != "none") asked_.out = out_;
        if (harm)
            return probe_harm(
                {.probe = asked_,
                 .victims = words.kinds.empty() ? std::vector<std::string>{"bandwidth", "latency", "llc"} : words.kinds,
                 .peers = peers_,
                 .scratch = scratch_,
                 .model = model_,
                 .slot_given = options.given("slot")});
        if (!options.given("command")) return probe(asked_);
        return probe_pressure({.probe = asked_, .command = command_, .scratch = scratch_});
    }

 private:
    Probe asked_;
    std::string victim_ = "auto";
    CpuRequest wish_;
    std::vector<std::string> avoid_;
    std::string limits_file_;
    std::string out_ = "-";
    std::string command_;
    std::vector<std::string> peers_;
    std::string model_ = "emulated[compute=20ms,gradients=1MiB,device=gemm]";
    std::string scratch_ = "/tmp";
};

}  // namespace

base::PlugInWords words_of_stressors()
{
    base::PlugInWords words;
    for (const StressorCard* card : stressors().cards())
        for (auto& options = words.options[card->name]; const base::OptionCard& option : card->options)
            options.push_back(option.name);
    return words;
}

base::Commands commands()
{
    return base::commands<Calibrate, ShowLimits, ProbeCommand>();
}

}  // namespace noisegen
