// SPDX-License-Identifier: Apache-2.0
// Signals that would end the program, so that what it leaves is in good order first.
#pragma once

namespace otf2 {

// Before SIGTERM, SIGINT or SIGHUP ends this process, `finish` is called with the signal, on a thread of its own, while
// the program continues; then the signal does what it does. A signal that the program ignores or handles is left to it,
// now or when it says so later. To be called once.
void before_ending_signals(void (*finish)(int signal));

// "SIGTERM".
const char* name_of_ending(int signal);

}  // namespace otf2
