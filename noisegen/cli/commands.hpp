// SPDX-License-Identifier: Apache-2.0
// The words that may stand first on the command line, and their options: noisegen calibrate, limits, probe.
#pragma once

#include "base/cli/commands.hpp"
#include "noisegen/stressors/guardian.hpp"

namespace noisegen {

base::Commands commands();

// Names and options of stressors, for completion.
base::PlugInWords words_of_stressors();

// Adds to the manual what is said beyond options: schedules, stressors, exit codes, files, examples.
void add_manual(base::Options& options);

// A guardian's main(): waits until its parent process has ended, then cleans up; `word` is what it was given. Returns
// main()'s value.
int guard(Guardian::Duty duty, const char* word);

// Where memory runs out the kernel ends a process: this program rather than the training beside it.
// This process and those that it starts from here on come first in the kernel's order of victims (oom_score_adj 1000,
// proc(5)); any process may do that to itself. Returns what the kernel has now: another number where it may not be
// changed, as in some containers.
int be_first_victim();

}  // namespace noisegen
