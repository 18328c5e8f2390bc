// SPDX-License-Identifier: Apache-2.0
// Plan of this noise process: the request, and its consequences on this machine.
#pragma once

#include "noisegen/resources/budgets.hpp"
#include "noisegen/resources/placement.hpp"
#include "noisegen/schedule/slot_table.hpp"

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <sys/types.h>

namespace noisegen {

struct Request {
    Schedule schedule;
    std::uint64_t seed = 1;
    base::Nanoseconds duration{60'000'000'000};
    base::Nanoseconds planned{};  // how long noise will be wanted, where the duration is longer for safety; 0: so long
    CpuRequest cpu_request;
    Avoid avoid;
    std::string scheduling = "other";   // class of the noise threads: batch, idle
    std::string memory = "local";       // or NUMA nodes that memory comes from
    std::string on_overlap = "report";  // or stop: when a process of what is avoided comes to a noise CPU
    Budgets budgets;
    std::filesystem::path limits_file;  // for rate=60%; empty: the default
    std::filesystem::path out;          // the run's directory
    std::filesystem::path control_run;  // the run whose control file asks the training and counts its steps
    std::set<pid_t> victims = {};       // processes of the job; none: those in the control file
    std::filesystem::path openmetrics;  // a file that says what is on, while it runs; empty: none
    bool designed = false;              // refuse a schedule of which interference could make no report
    bool json = false;                  // print the whole record in the end, instead of a line for each level
};

struct Plan {
    Request request;
    base::CpuSet allowed;                  // CPUs of this process before it binds itself
    base::CpuSet cpus;                     // that make noise
    std::vector<CpuPlacement> placements;  // where they are
    std::vector<std::vector<int>> runs;    // [stressor]: the CPUs that run it
    std::vector<Demand> demands;           // of the stressors, on these CPUs
    std::set<int> memory_nodes;            // none: memory near each CPU
    std::vector<Slot> table;               // empty while the length of its slots is not known (slot=auto)
};

// Does the schedule ask a training for something, or follow its phases?
bool needs_training(const Request& request);

// Makes and writes nothing. Without `placed` the plan is for any CPU, one for each stressor: what that needs, the run
// will need. Throws UsageError or Unavailable for what this machine cannot give.
Plan plan(Request request, bool placed);

// The table of a schedule with slot=auto, now that the length of its slots is known.
void set_slot(Plan& plan, base::Nanoseconds slot);

// Noise beside a training is there to be analysed: what cannot be is refused now, not at the training's end.
// Throws UsageError if interference could make no report of the run, where a report was asked for or a training is
// beside; warns where it will not be trusted.
void check_designed(const Plan& plan);

// Prepares a run beyond its plan, once its part of the run's directory is its own: turns rates that are a share of a
// limit into rates, allows the file descriptors that the stressors need, checks the design and warns of what competes
// for the CPUs. Throws UsageError for a limit that is not known, for too few descriptors, and as check_designed().
void prepare(Plan& plan);

}  // namespace noisegen
