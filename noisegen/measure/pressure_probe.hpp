// SPDX-License-Identifier: Apache-2.0
// noisegen probe --command: the effect of a program on the victim, expressed in levels of calibrated stressors; no
// training is involved.
#pragma once

#include "noisegen/measure/probe_run.hpp"

#include <filesystem>
#include <string>

namespace noisegen {

struct PressureProbe {
    Probe probe;                             // stressors to compare with; empty: all of pressure_kinds()
    std::string command;                     // shell command on a single line; restarted when it ends
    std::filesystem::path scratch = "/tmp";  // where the victim and io.write write
};

// The stressors for comparison, each at a quarter, a half, three quarters and all of its calibrated limit.
std::vector<std::string> default_pressure_stressors(const std::filesystem::path& scratch);

// Prints a table and writes pressure.json to OUT/probe/. Returns the exit code: 3 if the program was asked to stop
// before three blocks were complete, or if the command ended with an error. Throws UsageError as probe() does, and for
// stressors that are not calibrated.
int probe_pressure(const PressureProbe& asked);

}  // namespace noisegen
