// SPDX-License-Identifier: Apache-2.0
// A process as it begins and ends: streams, signals that ask for the end.
#pragma once

#include <atomic>

namespace base {

// The first thing in main(): a file that is opened later must not stand where a closed stdin, stdout or stderr is used.
// Writing there fails, as it should.
void occupy_closed_streams();

// SIGTERM, SIGINT and SIGHUP set the flag that stop_requested() reads; a second Ctrl-C ends the process at once,
// if it comes a second or more later (one may be delivered twice).
void stop_on_signals();

// Asks the kernel to send SIGTERM when the parent dies (the parent at the time of the call). If it is dead already, the
// flag is set at once.
void stop_with_parent();

bool stop_requested();
// Readable once a stop was asked for, by signal or program; -1 before stop_on_signals().
int stop_descriptor();
int stop_signal();  // the signal that asked, 0 if none
void request_stop();
void end_if_stopped();  // throws Interrupted if a signal asked

}  // namespace base
