// SPDX-License-Identifier: Apache-2.0
// The options of `crosstalk run`.
#pragma once

#include "base/system/cpus.hpp"
#include "base/units.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace crosstalk {

struct Request {
    std::vector<std::string> command;  // the job: words after --
    std::filesystem::path out;         // directory of the run, or of the part that is added to a run
    std::filesystem::path whole;       // directory to report on: the extended run, else `out`
    std::filesystem::path folder;      // working directory of the job
    std::filesystem::path input;       // the job's stdin: a file, "-" for this process's, or empty for none
    std::string python;                // $PYTHON, the interpreter for crosstalk-python; empty: not set
    base::Nanoseconds duration{150'000'000'000};
    bool ends_job = true;  // the job is asked to end after the duration; else ddl-train ends on its own
    base::Nanoseconds first_steps_within{600'000'000'000};
    std::string budget = "1%";
    std::string schedule = "auto";
    std::string slot = "auto";
    std::string noises = "memory.stream, network.exchange, io.write";  // for schedule=auto
    std::string blind_slot = "1s";  // slot=auto for a job that does not report its steps: long enough for most steps
    std::uint64_t seed = 1;
    base::CpuSet job_cpus;    // empty: not given
    base::CpuSet noise_cpus;  // empty: not given

    // End the job as soon as every verdict is decided; `duration` is then the maximum.
    bool until_decided = false;

    // Where job and noise run: "local", or "step" for two steps of the present Slurm job, with these numbers of ranks
    // and GPUs per node. 0 ranks: one per GPU, or a single one.
    std::string back_end = "local";
    int ranks_per_node = 0;
    int gpus_per_node = 0;

    // Prefix of noisegen's command line that starts one noisegen on each node; empty: one on this node.
    std::string noise_launch;

    // For a set of runs: seed of swap_neighbours(), which divides cores between job and noise. 0: not swapped.
    std::uint64_t cores_seed = 0;

    // Which evidence of the operating system is recorded during the run: an evidence_word.
    std::string evidence = "auto";

    // The known delay of a job that cooperates: a time, a share of its quiet step, or 0 for none.
    std::string control_delay = "5%";

    // Source of the steps of other jobs; at most one is set.
    std::string step_region;
    std::string step_from;
    int step_every = 1;     // use every Nth of the calls that step_from names or that are found
    std::string step_line;  // regular expression for lines of the job's output
    std::string steps;      // path of a table that the job writes

    std::string fail_on;
    struct {
        std::filesystem::path markdown;  // this and the next three: empty if not wanted
        std::filesystem::path json;
        std::filesystem::path csv;
        std::filesystem::path junit;
    } exports;
    std::filesystem::path openmetrics;  // folder for Prometheus; empty: not wanted
    std::string again;                  // the command that continues the measurement, see interference analyse --again
};

}  // namespace crosstalk
