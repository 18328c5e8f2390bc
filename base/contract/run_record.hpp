// SPDX-License-Identifier: Apache-2.0
// run.json: host, versions, command line and time of a run; every program of Crosstalk writes it in the same form.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace base {

constexpr int format_version = 1;  // format of the CSV and JSON files next to a run record

// Members: host, clock identity, MONOTONIC-REALTIME difference, kernel, CPU model, CPUs, hypervisor's vendor (empty
// without one), Slurm job, MPI environment, versions, command line, git revision, start (REALTIME and MONOTONIC), state
// of the machine. Programs add their own members.
nlohmann::ordered_json run_record(const std::string& program, int argc, char** argv);

// The same, with the command line read from /proc/self/cmdline.
nlohmann::ordered_json run_record(const std::string& program);

// The parts of a machine's state that may change from run to run: clocksource; huge_pages: when the kernel makes them;
// mhz: mean over CPUs, from /proc/cpuinfo; steal_s: time since boot, summed over CPUs, in which the host ran something
// else; free_bytes: memory. Values that the kernel does not report are null.
nlohmann::ordered_json machine_state();

}  // namespace base
