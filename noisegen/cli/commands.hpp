// SPDX-License-Identifier: Apache-2.0
// The commands of noisegen and their options: noisegen calibrate, limits, probe.
#pragma once

#include "base/cli/commands.hpp"
#include "noisegen/stressors/guardian.hpp"

namespace noisegen {

base::Commands commands();

// Names and options of all stressors, for completion.
base::PlugInWords words_of_stressors();

// Adds the manual's sections beyond the options: schedules, stressors, exit codes, files, examples.
void add_manual(base::Options& options);

// main() of a guardian process: waits until its parent process has ended, then cleans up. `word` is the argument that
// the guardian was started with. Returns the exit code.
int guard(Guardian::Duty duty, const char* word);

// When memory runs out, the kernel should kill this program rather than the training. Makes this process, and those
// that it starts later, the kernel's first choice (oom_score_adj 1000, proc(5)); this needs no privilege. Returns the
// kernel's value afterwards, which differs where it must not be changed, as in some containers.
int be_first_victim();

}  // namespace noisegen
