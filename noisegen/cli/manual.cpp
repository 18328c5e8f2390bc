// SPDX-License-Identifier: Apache-2.0

#include "base/contract/run_directory.hpp"
#include "noisegen/cli/commands.hpp"
#include "noisegen/schedule/schedule.hpp"
#include "noisegen/stressors/registry.hpp"

namespace noisegen {

namespace {

base::Section schedules()
{
    return {.title = "Schedules",
            .text =
                "A stressor is written name[option=value,...], with a label in front if wanted: "
                "mem=memory.stream[rate=4GiB/s].",
            .entries = {
                {"A 2s; B 500ms; quiet 1s", "one after the other, repeated until the end"},
                {"M2S2, M2N2S2",
                 "the same in short, in seconds: M memory.stream, N network.exchange, I io.write, C cpu.spin, S quiet"},
                {"rotation(A, B, placebo; slot=1s)",
                 "blocks that hold each factor once and quiet some times (quiet=2), in random order; slot=auto: ten "
                 "steps of the training, more where noise lasts. A factor may have levels: "
                 "a=memory.stream[rate=4GiB/s|8GiB/s]"},
                {"factorial(A, B; slot=1s)", "all on/off combinations, each on CPUs of its own"},
                {"random(A=25%, quiet=75%; slot=1s)", "a draw per slot"},
                {"ramp(A; rate=0..16GiB/s; steps=8; hold=5s)",
                 "one rate after the other, again and again; it needs rate=0.. and two rounds for a report"},
            }};
}

std::string default_of(const base::OptionCard& option)
{
    return option.name + "=" + option.default_text;
}

base::Section all_stressors()
{
    base::Section section{
        .title = "Stressors", .text = "Each with its options and their defaults.", .entries = {}, .in_help = false};
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
            .text = {},
            .entries = {{"0", "fine, also when stopped by a signal"},
                        {"1", "failed"},
                        {"2", "wrong usage"},
                        {"3", "a rate was not reached, or --on-overlap stop ended the run"},
                        {"77", "not possible on this machine, or with what noisegen was built without"}}};
}

base::Section files()
{
    return {.title = "Files",
            .text = "Under OUT/noise/<host>.<rank>/, for each noise process:",
            .entries = {{base::file::noise_record, "who, where, when and how; complete when the run is over"},
                        {base::file::noise_rows, "a row per CPU and slot, written as the slot ends"},
                        {"samples.csv", "what each CPU that is on did, about every tenth of a second"},
                        {base::file::anchor_in_part, "the same as an OTF2 archive, written at the end"},
                        {"../plan.json", "start and schedule that all noise processes of the job follow"},
                        {"../token", "with [hosts=..]: what they know each other by over TCP"}},
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
    options.example("    shows where noise would be, and the slot table of all combinations; does nothing");
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
        "Stresses memory, network, disks or CPUs on the cores that a job leaves idle, in a schedule that is the same "
        "for all processes of a job and the same again for the same seed, and records what it did.\n\n"
        "Each noise CPU has one thread that is bound to it. Noise ends after --duration, on SIGTERM, SIGINT "
        "and SIGHUP, and when the process that started it ends. It takes no CPU that is to be avoided, and never the "
        "last of memory or disk.\n\n"
        "A second process, its guardian, sets right what noisegen leaves when it is killed: it removes files and lets "
        "a training go on that control.pause had stopped. Where both are killed at once, as with a whole cgroup, "
        "neither happens: then kill -CONT the training's processes.");
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
