// SPDX-License-Identifier: Apache-2.0
// Request of a user to `crosstalk run`.
#pragma once

#include "base/system/cpus.hpp"
#include "base/units.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace crosstalk {

struct Request {
    std::vector<std::string> command;  // the job, as given behind --
    std::filesystem::path out;         // the run's directory, or that of the part which is added to one
    std::filesystem::path whole;       // what is reported on: the run that a part is added to, else the run
    std::filesystem::path folder;      // in which the job starts
    std::filesystem::path input;       // the job's standard input: a file, "-" for this process's, or empty for none
    std::string python;                // $PYTHON, the interpreter of crosstalk-python; empty: not set
    base::Nanoseconds duration{150'000'000'000};
    bool ends_job = true;  // who started it asks it to end after the duration; else ddl-train ends by itself then
    base::Nanoseconds first_steps_within{600'000'000'000};
    std::string budget = "1%";
    std::string schedule = "auto";
    std::string slot = "auto";
    std::string noises = "memory.stream, network.exchange, io.write";  // of the schedule auto
    std::string blind_slot = "1s";  // slot=auto of a job that does not tell its steps: long enough for most steps
    std::uint64_t seed = 1;
    base::CpuSet job_cpus;    // empty: not given
    base::CpuSet noise_cpus;  // empty: not given

    // Ends the job as soon as every verdict is decided; `duration` is then the longest that it may take.
    bool until_decided = false;

    // Where both run: local, or as two steps of the Slurm job that this process is in ("step"), with so many ranks and
    // GPUs of each node. 0 ranks: one for each GPU, or one.
    std::string back_end = "local";
    int ranks_per_node = 0;
    int gpus_per_node = 0;

    // Words in front of noisegen that start one on each node; empty: one here.
    std::string noise_launch;

    // For a set of runs: seed that decides which core of each two neighbours is the job's. 0: not drawn.
    std::uint64_t cores_seed = 0;

    // Evidence of the operating system that is recorded beside the job: an evidence_word.
    std::string evidence = "auto";

    // The known delay of a job that cooperates: a time, a share of its quiet step, or 0 for none.
    std::string control_delay = "5%";

    // Where the steps of another job come from; at most one is given.
    std::string step_region;
    std::string step_from;
    int step_every = 1;     // of the calls that step_from names, or that are found
    std::string step_line;  // a regular expression for lines of its output
    std::string steps;      // a table that the job writes

    std::string fail_on;
    std::filesystem::path export_markdown;  // empty: not wanted, as the next three
    std::filesystem::path export_json;
    std::filesystem::path export_csv;
    std::filesystem::path export_junit;
    std::filesystem::path openmetrics;  // a folder for Prometheus; empty: not wanted
    std::string again;                  // the command that measures on, see interference analyse --again
};

}  // namespace crosstalk
