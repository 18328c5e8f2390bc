// SPDX-License-Identifier: Apache-2.0
// Runs cleanup before a signal ends the program.
#pragma once

namespace otf2 {

// Before SIGTERM, SIGINT or SIGHUP ends this process, `finish` is called with the signal on a separate thread while the
// program continues; then the signal takes effect. Signals that the program ignores or handles are left to the program,
// even if it does so later. Call this function once.
void before_ending_signals(void (*finish)(int signal));

// Name of the signal, such as "SIGTERM".
const char* name_of_ending(int signal);

}  // namespace otf2
