// SPDX-License-Identifier: Apache-2.0
// noisegen probe --command: what a program that never ran beside a training does to the victim, as levels of calibrated
// stressors.
#pragma once

#include "noisegen/measure/probe_run.hpp"

#include <filesystem>
#include <string>

namespace noisegen {

struct PressureProbe {
    Probe probe;                             // its stressors: those to compare with; empty: all of pressure_kinds()
    std::string command;                     // words for the shell, without a line break; starts again when it ends
    std::filesystem::path scratch = "/tmp";  // where victim and io.write write
};

// The stressors that are compared with, each at a quarter, a half, three quarters and all of its calibrated limit.
std::vector<std::string> default_pressure_stressors(const std::filesystem::path& scratch);

// Prints a table; pressure.json goes to OUT/probe/. Returns the exit code: 3 if the program was asked to stop before
// three blocks were complete, or if the command ended with an error. Throws UsageError as probe() does, and for
// stressors that are not calibrated.
int probe_pressure(const PressureProbe& asked);

}  // namespace noisegen
