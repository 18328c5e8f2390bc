// SPDX-License-Identifier: Apache-2.0
// A training as the analysis reads it: its steps and phases on every rank, from any recorder.
#pragma once

#include "analysis/input/step_work/work.hpp"
#include "analysis/input/steps.hpp"
#include "trace-tools/steps/chosen_steps.hpp"

#include <Eigen/Dense>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace analysis {

struct Training {
    std::filesystem::path file;             // an archive, or a steps.csv
    std::shared_ptr<otf2::Reader> archive;  // opened once and kept for further reading; null for a table
    StepTable steps;                        // times on each node's own clock, without clock offsets
    std::vector<std::string> clock;         // [rank]: identity of its node's clock; empty if the file does not say
    std::vector<std::string> host;          // [rank]; empty if the file does not say
    std::vector<std::optional<std::int64_t>> realtime_minus_clock_ns;  // [rank], if the file says so
    bool is_table = false;  // a steps.csv: its times are those of the node's CLOCK_MONOTONIC
    std::string steps_are;  // "a step is a visit of iterate"; empty for regions `step` with a number

    bool numbered = true;                       // true: steps have recorded numbers; false: they are counted
    base::LongColumn<std::uint64_t> signature;  // [step]: hash of the regions entered on the lowest rank; or empty
    otf2::StepChoice choice;                    // choice that finds the same steps in another archive of the program
    bool cut_off = false;                       // by the archive, its program ended before the recording did

    Work work;  // of each rank

    // The archive says that computing continues while processes are stopped; on a GPU, also while work is queued.
    bool computes_while_stopped = false;
    bool computes_on_gpu = false;

    // Measures of the job's steps other than phases, in ms, steps x extra_names; empty if no buckets were recorded. The
    // first three add up to the step.
    //   critical_compute  from the step's start (mean over ranks) until the last bucket of the last rank was ready
    //   exposed_transfer  from then until the last rank had its last bucket back
    //   after_exchange    the rest of the step
    //   waiting           mean over ranks of: last bucket ready on the last rank - on this rank
    //   transfer_min      sum over buckets of the shortest exchange of any rank: transfer without waiting for peers
    //   ready rank <r>    from the step's start on that rank until its last bucket was ready: names the slow rank,
    //                     which the wall time of a phase that waits does not
    //   exchange bucket <n>  mean over ranks of the bucket's exchange; of the first eight, those of every step and rank
    //   read reader <n>      see input_reads.hpp; like exchanges of buckets, reads overlap with other work
    // Why these: docs/statistics.md, "Where a delay comes from".
    LongTable extra_ms;
    std::vector<std::string> extra_names;
};

}  // namespace analysis
