#include "noisegen/commands.hpp"

#include "base/options.hpp"
#include "base/stop.hpp"
#include "base/words.hpp"
#include "noisegen/calibrate.hpp"
#include "noisegen/placement.hpp"
#include "noisegen/probe.hpp"

#include <algorithm>
#include <array>
#include <iostream>

namespace noisegen {

namespace {

namespace fs = std::filesystem;

fs::path limits_path(const std::string& given)
{
    return given.empty() ? default_limits_file() : fs::path{given};
}

// What both measuring commands ask about CPUs and budgets.
struct Where {
    std::string cpus;
    std::vector<std::string> avoid;
    bool share = false;

    void add_to(base::Options& options, Limits& budgets)
    {
        options.add("avoid", avoid, "CPUs, or processes whose CPUs, must stay free; as without a command");
        options.add_switch("share", share, "make noise on CPUs that should be avoided, on purpose");
        options.add("max-memory", budgets.max_memory, "share of the available memory that may be taken");
        options.add("max-disk", budgets.max_disk, "share of the free disk space that may be taken");
    }
};

base::CpuSet chosen(const std::string& cpus, const Avoid& avoid, bool share)
{
    Wish wish;
    wish.cpus = cpus;
    wish.share = share;
    return choose_cpus(wish, this_machine(base::allowed_cpus(), avoid));
}

void refuse_under_mpi(const std::string& command)
{
    if (base::local_rank().size > 1)
        base::fail_usage(command, " is one process on each node, not ", base::local_rank().size,
                         ": srun --ntasks-per-node=1, or no mpirun");
}

int calibrate_command(int argc, char** argv)
{
    Calibration calibration;
    Where where{.cpus = "all", .avoid = {}, .share = false};
    std::string limits_file;
    auto rounds = static_cast<std::int64_t>(calibration.rounds);
    base::Options options{"noisegen calibrate", "finds what each stressor reaches on this node, for rate=60%"};
    options.add_positional("STRESSOR", calibration.stressors,
                           "as in a schedule, with options; without: all that can be held to a rate", 0);
    options.add(
        "cpus", where.cpus,
        "CPUs to measure on, all of those allowed to this process, a list such as 4-7, or idle: on 1, 2, 4, ... "
        "and all of their cores");
    options.add("rounds", rounds, "each measures every stressor on every number of cores once, in random order");
    options.add("round", calibration.round, "length of one measurement");
    options.add("seed", calibration.seed, "of the random order");
    options.add("limits", limits_file,
                "the file to add to, by default limits-<host>.json in $XDG_CACHE_HOME/crosstalk or ~/.cache/crosstalk");
    where.add_to(options, calibration.budgets);
    options.example("noisegen calibrate --cpus 4-7");
    options.example("    all stressors, on one, two and four cores");
    options.example("noisegen calibrate 'memory.stream[shape=read|update]' --cpus 4-7");
    options.example("    adds two shapes; what was found for others stays");
    options.epilogue(
        "Exit codes: 0 fine, 1 failed, 2 wrong usage, 3 stopped before the last round: nothing was added.");
    if (!options.parse(argc, argv)) return base::exit_fine;

    refuse_under_mpi("calibrate");
    if (rounds < 1 || rounds > 10'000) base::fail_usage("--rounds: 1 to 10000, not ", rounds);
    calibration.rounds = static_cast<std::size_t>(rounds);
    constexpr base::Nanoseconds shortest{10'000'000};
    constexpr base::Nanoseconds longest = std::chrono::hours{1};
    if (calibration.round < shortest || calibration.round > longest)
        base::fail_usage("--round: 10ms to 1h, not ", base::format(calibration.round));
    const std::string cpus = where.cpus == "all" ? base::format_cpus(base::allowed_cpus()) : where.cpus;
    calibration.cpus = chosen(cpus, parse_avoid(where.avoid), where.share);
    calibration.limits_file = limits_path(limits_file);
    base::stop_on_signals();
    base::stop_with_parent();
    return calibrate(calibration);
}

int limits_command(int argc, char** argv)
{
    std::string limits_file;
    base::Options options{"noisegen limits", "shows what noisegen calibrate found on this node"};
    options.add("limits", limits_file, "the file, by default that of noisegen calibrate");
    if (!options.parse(argc, argv)) return base::exit_fine;
    const NodeLimits limits = read_limits(limits_path(limits_file));
    if (limits.entries.empty())
        base::fail("no limits are known in ", limits.file.string(), "; find them with: noisegen calibrate");
    print_limits(std::cout, limits.entries);
    if (!std::cout.flush()) base::fail("cannot write the table");
    return base::exit_fine;
}

int probe_command(int argc, char** argv)
{
    Probe asked;
    Where where{.cpus = "idle", .avoid = {}, .share = false};
    std::string limits_file;
    std::string out = "-";
    asked.victim = *base::allowed_cpus().begin();
    base::Options options{"noisegen probe", "what noise on some CPUs takes from memory accesses on another"};
    options.add_positional("STRESSOR", asked.stressors,
                           "as in a schedule, with options; without: controls, cache and memory stressors", 0);
    options.add("victim", asked.victim, "the CPU whose bandwidth and latency are measured");
    options.add("cpus", where.cpus, "CPUs to make noise on: a list, or idle: whole cores beside the victim's");
    options.add("out", out, "directory; the results go to OUT/probe/. -: the table on stdout is all");
    options.add("blocks", asked.blocks, "each holds every stressor once and quiet several times, in random order");
    options.add("chip", asked.chip, "how long each is on in a block");
    options.add("seed", asked.seed, "of the random order");
    options.add("array", asked.array, "the victim's memory, two of it; auto: four times the last-level cache");
    options.add("limits", limits_file, "for rate=60%; by default the file of noisegen calibrate");
    where.add_to(options, asked.budgets);
    options.example("noisegen probe --victim 0 --cpus 4-7 --out probe1");
    options.example("    a table, probe.csv, probe.json and probe.svg: damage against traffic");
    options.example(
        "noisegen probe 'memory.stream[rate=1GiB/s|4GiB/s|16GiB/s]' cpu.spin placebo --victim 0 --cpus 4-7");
    options.example("    how damage grows with the rate");
    options.epilogue(
        "Bytes per second are not damage: a stressor that moves little may hurt most. cpu.spin tells what is clock\n"
        "frequency, placebo what is chance.\n"
        "Exit codes: 0 fine, 1 failed, 2 wrong usage, 3 stopped before two blocks were complete.");
    if (!options.parse(argc, argv)) return base::exit_fine;

    refuse_under_mpi("probe");
    base::check_cpus({asked.victim});
    const base::CpuSet listed = where.cpus == "idle" ? base::CpuSet{} : base::parse_cpus(where.cpus);
    if (listed.contains(asked.victim))
        base::fail_usage("CPU ", asked.victim, " is the victim's; make noise on other --cpus");
    Avoid avoid = parse_avoid(where.avoid);
    avoid.cpus.insert(asked.victim);
    asked.cpus = chosen(where.cpus, avoid, where.share);
    asked.limits_file = limits_file;
    if (out != "-") asked.out = out;
    base::stop_on_signals();
    base::stop_with_parent();
    return probe(asked);
}

struct Command {
    std::string name;
    int (*run)(int argc, char** argv);
};

const std::array<Command, 3> commands{
    {{"calibrate", calibrate_command}, {"limits", limits_command}, {"probe", probe_command}}};

}  // namespace

std::optional<int> run_command(int argc, char** argv)
{
    if (argc < 2 || argv[1][0] == '-') return {};
    const std::string word = argv[1];
    std::vector<std::string> names;
    for (const Command& command : commands) {
        if (word == command.name) return command.run(argc - 1, argv + 1);
        names.push_back(command.name);
    }
    base::fail_usage("no command '", word, "'", base::did_you_mean(word, names), " (there are ",
                     base::join_words(names, ", "), "; a schedule needs none: noisegen --help)");
}

}  // namespace noisegen
