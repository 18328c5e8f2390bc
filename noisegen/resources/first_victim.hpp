// Where memory runs out the kernel ends a process: this program rather than the training beside it.
#pragma once

namespace noisegen {

// This process and those that it starts from here on come first in the kernel's order of victims (oom_score_adj 1000,
// proc(5)); any process may do that to itself. Returns what the kernel has now: another number where it may not be
// changed, as in some containers.
int be_first_victim();

}  // namespace noisegen
