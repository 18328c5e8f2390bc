// SPDX-License-Identifier: Apache-2.0

#include "base/contract/run_directory.hpp"
#include "noisegen/cli/commands.hpp"
#include "noisegen/schedule/schedule.hpp"
#include "noisegen/stressors/registry.hpp"

namespace noisegen {

namespace {

base::Section schedules()
{
    return {
        .title = "Schedules",
        .text = "A stressor is name[option=value,...], optionally with a label: mem=memory.stream[rate=4GiB/s].",
        .entries = {
            {"A 2s; B 500ms; quiet 1s", "one after the other, repeated until the end"},
            {"M2S2, M2N2S2",
             "short form, in seconds: M memory.stream, N network.exchange, I io.write, C cpu.spin, S quiet"},
            {"rotation(A, B, placebo; slot=1s)",
             "blocks in random order, each factor once and quiet twice (quiet=2) per block; slot=auto: ten training "
             "steps, more if noise outlasts its slot. A factor may have levels: a=memory.stream[rate=4GiB/s|8GiB/s]"},
            {"factorial(A, B; slot=1s)", "all on/off combinations; each factor has its own CPUs"},
            {"random(A=25%, quiet=75%; slot=1s)", "one random draw per slot"},
            {"ramp(A; rate=0..16GiB/s; steps=8; hold=5s)",
             "increasing rates, repeated; a report needs rate=0.. and two rounds"},
        }};
}

std::string default_of(const base::OptionCard& option)
{
    return option.name + "=" + option.default_text;
}

base::Section all_stressors()
{
    base::Section section{.title = "Stressors", .text = "Options with their defaults.", .in_help = false};
    for (const StressorCard* card : stressors().cards()) {
        base::Entry entry{.term = card->name, .text = card->summary};
        for (const base::OptionCard& option : card->options) entry.below.push_back({default_of(option), option.help});
        section.entries.push_back(std::move(entry));
    }
    return section;
}

base::Section exit_status()
{
    return {.title = "Exit status",
            .entries = {{"0", "fine, also when stopped by a signal"},
                        {"1", "failed"},
                        {"2", "wrong usage"},
                        {"3", "a rate was not reached, or --on-overlap stop ended the run"},
                        {"77", "not possible on this machine, or not in this build"}}};
}

base::Section files()
{
    return {.title = "Files",
            .text = "Under OUT/noise/<host>.<rank>/, for each noise process:",
            .entries = {{base::file::noise_record,
                         "machine, job, time, options and results; complete at the end of the run"},
                        {base::file::noise_rows, "a row per CPU and slot, written as the slot ends"},
                        {"samples.csv", "work of each active CPU, about every tenth of a second"},
                        {base::file::anchor_in_part, "the same as an OTF2 archive, written at the end"},
                        {"../plan.json", "schedule and start time, shared by all noise processes of the job"},
                        {"../token", "with [hosts=..]: the secret by which they authenticate over TCP"}},
            .in_help = false};
}

void add_examples(base::Options& options)
{
    options.example("noisegen memory.stream 5s");
    options.example("noisegen --schedule 'memory.stream 2s; quiet 2s' --cpus 4-7 --duration 60s --out run1");
    options.example("    memory traffic on CPUs 4 to 7, two seconds on, two seconds off (M2S2 for short)");
    options.example("noisegen --schedule 'rotation(memory.stream, io.write, placebo; slot=auto)' \\");
    options.example("         --cpus idle --avoid 4711 --count 4 --socket same --duration 2min --out run1");
    options.example("    the experiment: each noise alone, in random order, on idle cores of process 4711's socket");
    options.example("noisegen --schedule 'factorial(mem=memory.stream[rate=4GiB/s|8GiB/s], io.write)' \\");
    options.example("         --cpus 2-7 --dry-run");
    options.example("    prints CPUs and the slot table of all combinations; makes no noise");
}

base::PlugInWords words_of_schedules()
{
    base::PlugInWords words = words_of_stressors();
    words.forms = {"rotation(", "factorial(", "random(", "ramp("};
    return words;
}

}  // namespace

void add_manual(base::Options& options)
{
    options.description(
        "Stresses memory, network, disks or CPUs on the cores that a job leaves idle, and records what it did. All "
        "processes of a job follow one schedule; the same seed gives the same schedule.\n\n"
        "One thread is bound to each noise CPU. Noise ends after --duration, on SIGTERM, SIGINT and SIGHUP, and "
        "when the parent process ends. It avoids the CPUs of --avoid and never uses up memory or disk.\n\n"
        "If noisegen is killed, a second process, its guardian, removes its files and continues a training that "
        "control.pause had stopped. If both are killed at once, as with a whole cgroup, send SIGCONT to the "
        "training's processes yourself.");
    options.section(schedules());
    options.section(all_stressors());
    options.section(exit_status());
    options.section(files());
    options.see_also(
        "noisegen-calibrate(1), noisegen-limits(1), noisegen-probe(1), sched(7), numa(7), cgroups(7), mpirun(1), "
        "srun(1), otf2-print(1)");
    for (const auto& command : commands()) options.command(command->options.manual());
    options.plug_ins("schedule", words_of_schedules());
    add_examples(options);
}

}  // namespace noisegen
