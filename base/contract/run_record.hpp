// SPDX-License-Identifier: Apache-2.0
// run.json: who, where, when and how, the same for every program of Crosstalk.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace base {

constexpr int format_version = 1;  // of the CSVs and JSONs that stand beside a run record

// host, clock identity, MONOTONIC-REALTIME difference, kernel, CPU model, CPUs, who makes the virtual machine (empty
// without one), Slurm job, MPI environment, versions, command line, git revision, start (REALTIME and MONOTONIC), state
// of the machine. Programs add their own members.
nlohmann::ordered_json run_record(const std::string& program, int argc, char** argv);

// The same without a command line of one's own: read from /proc/self/cmdline.
nlohmann::ordered_json run_record(const std::string& program);

// The state of a machine that may change from run to run: clock rate, CPU time taken by the host, huge pages.
// clocksource; huge_pages: when the kernel makes them; mhz: mean over CPUs, as /proc/cpuinfo has them; steal_s: of all
// CPUs since boot, in which the host ran something else; free_bytes: memory. What the kernel does not say is null.
nlohmann::ordered_json machine_state();

}  // namespace base
