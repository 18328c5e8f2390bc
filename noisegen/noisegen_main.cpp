// noisegen: reproducible stress on the CPUs a job leaves idle.
#include "base/options.hpp"
#include "base/run_record.hpp"
#include "base/stop.hpp"
#include "noisegen/chip_table.hpp"
#include "noisegen/runner.hpp"
#include "noisegen/shelf.hpp"

#include <iostream>

namespace {

void add_examples(base::Options& options)
{
    options.example("noisegen --list");
    options.example("    the stressors and their options");
    options.example("noisegen --schedule 'memory.stream 2s; quiet 2s' --cpus 4-7 --duration 60s --out run1");
    options.example("    memory traffic on CPUs 4 to 7, two seconds on, two seconds off (M2S2 for short)");
    options.example("noisegen --schedule 'rotation(memory.stream, io.write, placebo; chip=auto)' \\");
    options.example("         --cpus idle --avoid 4711 --duration 2min --out run1");
    options.example("    the experiment: each noise alone, in random order, on cores that process 4711 leaves idle");
    options.example(
        "noisegen --schedule 'factorial(mem=memory.stream[rate=4GiB/s|8GiB/s], io.write)' --cpus 2-7 --dry-run");
    options.example(
        "    shows the chip table of all combinations, with two levels of memory traffic, and does nothing");
    options.epilogue(
        "Schedules:\n"
        "  STRESSOR 2s; STRESSOR 500ms; quiet 1s    phases one after the other, repeated until the duration is over\n"
        "  M2S2, M2N2S2                             the same in short: M memory.stream, N network.exchange, I "
        "io.write,\n"
        "                                           C cpu.spin, S quiet; seconds\n"
        "  rotation(A, B, placebo; chip=1s)         blocks that hold each factor once and quiet some times (quiet=2), "
        "in random\n"
        "                                           order; chip=auto: ten steps of the training\n"
        "  factorial(A, B; chip=1s)                 blocks of all on/off combinations; each stressor has CPUs of its "
        "own\n"
        "  random(A=25%, quiet=75%; slot=1s)        a draw per slot\n"
        "  ramp(A; rate=0..16GiB/s; steps=8; hold=5s)\n"
        "A stressor is written name[option=value,...], with a label in front if wanted: "
        "mem=memory.stream[rate=4GiB/s].\n"
        "\n"
        "Exit codes: 0 fine (also when stopped by a signal), 1 failed, 2 wrong usage, 3 a rate was not reached.");
}

}  // namespace

int main(int argc, char** argv)
try {
    std::string schedule;
    std::string cpus = "idle";
    std::string out;
    std::string control;
    std::vector<std::string> avoid;
    noisegen::Request request;
    bool list = false;
    bool dry_run = false;

    base::Options options{"noisegen", "reproducible stress on the CPUs a job leaves idle"};
    options.add("schedule", schedule, "what stresses when; see below");
    options.add("duration", request.duration, "of the whole run");
    options.add("cpus", cpus,
                "CPUs to make noise on: a list such as 4-7, or idle: whole cores beside what --avoid names");
    options.add(
        "avoid", avoid,
        "CPUs (a list), or processes whose CPUs, with those of their descendants, must stay free (a number that is "
        "no CPU, or pid:N); processes of the same Slurm job are avoided by themselves");
    options.add_switch("share", request.share, "make noise on CPUs that should be avoided, on purpose");
    options.add("seed", request.seed, "of the random order: the same seed gives the same chips");
    options.add("out", out, "the run's directory; records go to OUT/noise/<host>.<rank>/");
    options.add("control", control, "the training's run directory, if it is not OUT: for control.delay and chip=auto");
    options.add("max-memory", request.limits.max_memory, "share of the available memory that noise may take");
    options.add("max-disk", request.limits.max_disk, "share of the free disk space that noise may take");
    options.add_switch("json", request.json, "print the record of the run (noise.json) in the end");
    options.add_switch("list", list, "show the stressors and end");
    options.add_switch("dry-run", dry_run, "print the chip table and end");
    add_examples(options);
    if (!options.parse(argc, argv)) return base::exit_fine;
    if (list) {
        noisegen::stressors().list(std::cout);
        return base::exit_fine;
    }

    if (schedule.empty()) base::fail_usage("lacks --schedule, such as 'memory.stream 2s; quiet 2s' (noisegen --help)");
    request.schedule = noisegen::parse_schedule(schedule);
    if (request.duration.count() <= 0) base::fail_usage("--duration: zero is no time to make noise in");
    if (request.duration > std::chrono::hours{24 * 366}) base::fail_usage("--duration: a year at most");
    if (dry_run && request.schedule.needs_chip()) {
        std::cerr << "noisegen: chip=auto is measured when training runs; shown with chips of 1s\n";
        request.schedule.set_chip(std::chrono::seconds{1});
    }
    request.avoid = noisegen::parse_avoid(avoid);
    if (!dry_run || options.given("cpus")) {
        request.cpus = noisegen::choose_cpus(cpus, request.avoid, request.share);
        noisegen::divide(request.schedule, base::physical_cores(request.cpus));
    }
    if (dry_run) {
        noisegen::print(std::cout, request.schedule,
                        noisegen::chip_table(request.schedule, request.seed, request.duration));
        if (!std::cout.flush()) base::fail("cannot write the chip table");
        return base::exit_fine;
    }
    if (out.empty()) base::fail_usage("lacks --out, the directory for its records");
    request.out = out;
    request.control_run = control.empty() ? out : control;
    request.record = base::run_record("noisegen", argc, argv);

    base::stop_on_signals();
    base::stop_with_parent();
    return noisegen::run(std::move(request));
} catch (...) {
    return base::report_failure("noisegen");
}
