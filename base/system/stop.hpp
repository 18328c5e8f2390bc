// SPDX-License-Identifier: Apache-2.0
// Start and end of a process: closed standard streams, and signals that ask it to stop.
#pragma once

#include <atomic>

namespace base {

// Call it first in main(): opens closed stdin, stdout and stderr, so that no file opened later gets their numbers.
// Writing to such a stream fails, as it should.
void occupy_closed_streams();

// SIGTERM, SIGINT and SIGHUP set the flag that stop_requested() returns. A second Ctrl-C ends the process immediately
// if it comes a second or more later (launchers may deliver one Ctrl-C twice).
void stop_on_signals();

// Asks the kernel to send SIGTERM when the parent (at the time of the call) dies. If it is dead already, the flag is
// set immediately.
void stop_with_parent();

bool stop_requested();
// A descriptor that is readable once a stop was requested, by a signal or request_stop(); -1 before stop_on_signals().
int stop_descriptor();
int stop_signal();  // the signal that requested the stop, 0 if none
void request_stop();
void end_if_stopped();  // throws Interrupted if a signal requested the stop

}  // namespace base
