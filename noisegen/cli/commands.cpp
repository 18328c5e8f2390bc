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

// Measuring commands run in one process on each node, and can be stopped by signals.
void begin_measuring(const std::string& command)
{
    if (base::local_rank().size > 1)
        base::fail_usage(command, " runs as one process per node, not ", base::local_rank().size,
                         ": srun --ntasks-per-node=1, or no mpirun");
    base::stop_on_signals();
    base::stop_with_parent();
}

void add_stressors(base::Options& options, std::vector<std::string>& stressors, const std::string& otherwise)
{
    options.add_positional("STRESSOR", stressors, "as in a schedule, with options; default: " + otherwise, 0);
    options.plug_ins("STRESSOR", words_of_stressors());
}

base::Section exit_status(const std::string& stopped)
{
    return {.title = "Exit status", .entries = {{"0", "fine"}, {"1", "failed"}, {"2", "wrong usage"}, {"3", stopped}}};
}

int parse_cpu(const std::string& word)
try {
    return base::parse<int>(word);
} catch (const base::UsageError& error) {
    base::fail_usage("--victim: ", error.what());
}

// Value of --victim: a CPU, what is measured there, or both: "0,bandwidth,fsync".
struct VictimWords {
    std::optional<int> cpu;
    std::vector<std::string> kinds;
};

VictimWords parse_victim(const std::string& text)
{
    VictimWords victim;
    const std::vector<std::string>& kinds = victim_names();
    for (const std::string& word : base::split(text, ',')) {
        if (std::ranges::find(kinds, word) != kinds.end()) {
            if (std::ranges::find(victim.kinds, word) == victim.kinds.end()) victim.kinds.push_back(word);
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
    Calibrate() : Command{"noisegen calibrate", "measures what each stressor reaches on this node, for rate=60%"}
    {
        wish_.cpus = "all";
        options.description(
            "Runs each stressor at full speed on 1, 2, 4, ... and all of the cores. Each round does so in a new "
            "random order; the worst, median and best round are kept. A rate in percent refers to the worst.");
        add_stressors(options, calibration_.stressors, "all that take a rate");
        options.group("What");
        options.add("rounds", rounds_, "measurements of every stressor on every number of cores", "NUMBER");
        options.add("round", calibration_.round, "length of one measurement", "TIME");
        options.add("seed", calibration_.seed, "seed of the random order in each round", "NUMBER");
        options.add("victim", victim_,
                    "also measure how much each shape of memory.stream slows a victim on this CPU, for shape=worst",
                    "CPU");
        options.group("Where");
        add_placement(options, wish_, avoid_);
        options.group("How much");
        add_budgets(options, calibration_.budgets);
        options.group("Records");
        add_limits_option(options, limits_file_);
        options.section(exit_status("stopped before the last round: nothing was saved"));
        options.example("noisegen calibrate --cpus 4-7");
        options.example("    all stressors, on one, two and four cores");
        options.example("noisegen calibrate 'memory.stream[shape=read|update]' --cpus 4-7");
        options.example("    adds two shapes; earlier results of others are kept");
        options.see_also("noisegen(1), noisegen-limits(1)");
    }

    int run() override
    {
        begin_measuring("calibrate");
        if (rounds_ < 1 || rounds_ > 10'000) base::fail_usage("--rounds must be 1 to 10000, not ", rounds_);
        calibration_.rounds = static_cast<std::size_t>(rounds_);
        constexpr base::Nanoseconds shortest{10'000'000};
        constexpr base::Nanoseconds longest = std::chrono::hours{1};
        if (calibration_.round < shortest || calibration_.round > longest)
            base::fail_usage("--round must be 10ms to 1h, not ", base::format(calibration_.round));
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
    ShowLimits() : Command{"noisegen limits", "shows what noisegen calibrate measured on this node"}
    {
        add_limits_option(options, limits_file_);
        options.see_also("noisegen(1), noisegen-calibrate(1)");
    }

    int run() override
    {
        const NodeLimits limits = read_limits(limits_path(limits_file_));
        if (limits.entries.empty() && !limits.worst)
            base::fail("no limits in ", limits.file.string(), "; measure them with: noisegen calibrate");
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
    ProbeCommand() : Command{"noisegen probe", "measures how noise on some CPUs slows memory accesses on another"}
    {
        options.description(
            "A victim on one CPU streams through memory and chases pointers through memory and the last-level "
            "cache, while stressors run one at a time on other CPUs, in random order, with quiet between. Bandwidth "
            "and latency are reported relative to quiet.\n\n"
            "Traffic is not damage: a stressor that moves few bytes may hurt most. cpu.spin shows the effect of "
            "clock frequency, placebo that of chance.");
        add_stressors(options, asked_.stressors, "controls, cache and memory stressors");
        options.group("What");
        options.add("command", command_,
                    "your program instead of noise: finds the level of memory.stream, cache.llc, io.write and "
                    "network.exchange that hurts a victim as much. A shell command; restarted when it ends",
                    "WORDS");
        options.add("victim", victim_,
                    "the victim's CPU, without noise (auto: the first allowed one), and kinds of victims to measure: " +
                        base::join_words(victim_names(), ", "),
                    "CPU,WORD,..");
        options.add(
            "peer", peers_,
            "another program to compare with, a shell command such as 'stress-ng --cache 1'; restarted when it ends",
            "WORDS");
        options.add("victim-model", model_, "model of ddl-train, the victim of --victim step", "MODEL");
        options.add(
            "array", asked_.array,
            "size of each of the victim's two large arrays; auto: four times the last-level cache, less if memory "
            "is short",
            "SIZE");
        options.add("blocks", asked_.blocks, "number of blocks; each runs every stressor once and quiet several times",
                    "NUMBER");
        options.add("slot", asked_.slot, "length of a slot; default for the victims fsync and step: 1s", "TIME");
        options.add("seed", asked_.seed, "seed of the random order in each block", "NUMBER");
        options.group("Where");
        add_placement(options, wish_, avoid_);
        options.add("scratch", scratch_, "where victims and stressors write", "DIR");
        options.group("How much");
        add_budgets(options, asked_.budgets);
        add_limits_option(options, limits_file_);
        options.group("Records");
        options.add("out", out_, "results go to OUT/probe/; -: print the table only", "DIR");
        options.section(
            exit_status("stopped before two blocks (--command: three) were complete, or the command failed"));
        options.section({.title = "Files",
                         .text = "Under OUT/probe/:",
                         .entries = {{"probe.csv", "a row per stressor and level: its traffic and the damage"},
                                     {"probe.json", "the same, with machine, job, time and options"},
                                     {"probe.svg", "damage against traffic; probe.gp and probe_*.csv draw it again"},
                                     {"pressure.json", "with --command, not the above: for interference predict"},
                                     {"harm.csv", "with --victim WORD, not the above: a row per noise and victim"},
                                     {"harm.json", "the same, with machine, job, time and options"}},
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
        options.example("    slowdown of victims by cache.llc and by another program, alternating");
        options.see_also("noisegen(1), noisegen-calibrate(1)");
    }

    int run() override
    {
        begin_measuring("probe");
        if (options.given("command") && base::trim(command_).empty()) base::fail_usage("--command: no program given");
        const base::CpuSet allowed = base::allowed_cpus();
        const VictimWords words = parse_victim(victim_);
        asked_.victim = words.cpu.value_or(*allowed.begin());
        const bool harm = !words.kinds.empty() || !peers_.empty();
        if (harm && options.given("command"))
            base::fail_usage("--command cannot be combined with named victims; give the program as --peer");
        for (const std::string& peer : peers_)
            if (base::trim(peer).empty()) base::fail_usage("--peer: no program given");
        base::check_cpus({asked_.victim});
        if (named_cpus(wish_, allowed).contains(asked_.victim))
            base::fail_usage("CPU ", asked_.victim, " is the victim's; give other --cpus");
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
