// SPDX-License-Identifier: Apache-2.0
// Plan of this noise process: the request, and what follows from it on this machine.
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
    base::Nanoseconds planned{};  // expected length of the noise if `duration` is longer for safety; 0: equal
    CpuRequest cpu_request;
    Avoid avoid;
    std::string scheduling = "other";   // scheduling class of the noise threads: other, batch, idle
    std::string memory = "local";       // "local", or the NUMA nodes that memory is taken from
    std::string on_overlap = "report";  // "report" or "stop": reaction to an avoided process on a noise CPU
    Budgets budgets;
    std::filesystem::path limits_file;  // limits for rates like 60%; empty: the default file
    std::filesystem::path out;          // the run's directory
    std::filesystem::path control_run;  // the run whose control file is used, for requests and the step count
    std::set<pid_t> victims = {};       // processes of the job; none: those in the control file
    std::filesystem::path openmetrics;  // OpenMetrics file that shows what is on; empty: none
    bool designed = false;              // refuse a schedule that interference could not analyse
    bool json = false;                  // print the whole record at the end, instead of a line for each level
};

struct Plan {
    Request request;
    base::CpuSet allowed;                  // CPUs of this process before it bound itself
    base::CpuSet cpus;                     // noise CPUs
    std::vector<CpuPlacement> placements;  // locations of the noise CPUs
    std::vector<std::vector<int>> runs;    // [stressor]: the CPUs that run it
    std::vector<Demand> demands;           // demands of the stressors on these CPUs
    std::set<int> memory_nodes;            // empty: memory near each CPU
    std::vector<Slot> table;               // empty until the slot length is known (slot=auto)
};

// Does the schedule request delays from a training, or follow its phases?
bool needs_training(const Request& request);

// Makes the plan; creates no threads and writes nothing. Without `placed` the plan is for any CPU, one for each
// stressor, and has the demands that the run will have. Throws UsageError or Unavailable for requests that this machine
// cannot satisfy.
Plan plan(Request request, bool placed);

// Makes the table of a schedule with slot=auto once the slot length is known.
void set_slot(Plan& plan, base::Nanoseconds slot);

// Refuses a schedule that cannot be analysed now instead of at the training's end. Throws UsageError if interference
// could not report on the run, provided that a report was requested or a training is running; warns if the report will
// not be trusted.
void check_designed(const Plan& plan);

// Prepares a run after this process has claimed its part of the run's directory: turns rates that are a share of a
// limit into rates, raises the limit of file descriptors for the stressors, checks the design, and warns of programs
// that compete for the CPUs. Throws UsageError for an unknown limit, for too few descriptors, and as check_designed()
// does.
void prepare(Plan& plan);

}  // namespace noisegen
