// SPDX-License-Identifier: Apache-2.0
// The visible processes of this machine, from /proc.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include <sys/types.h>

namespace base {

struct Process {
    pid_t parent = 0;
    std::string name;
    char state = '?';           // state letter of /proc/PID/stat: R, S, D, T (stopped), ..
    std::uint64_t started = 0;  // clock ticks since boot; distinguishes processes with the same PID
    std::uint32_t owner = 0;    // effective user id
};

// All processes but zombies. A process that ends during the call may be missing.
std::map<pid_t, Process> processes();

// The processes in `only` that are running: without those that have ended, are zombies, or are hidden.
std::map<pid_t, Process> processes(const std::set<pid_t>& only);

// Threads of a process by their ids, as processes() describes them.
std::map<pid_t, Process> threads_of(pid_t pid);

// The present time in the unit of Process::started.
std::uint64_t ticks_since_boot();

// Living children of `parents` that /proc does not show: another user's, if it is mounted with hidepid.
std::set<pid_t> hidden_children(const std::set<pid_t>& parents);

// Did the process start with this value of the environment variable? False for another user's process.
bool has_variable(pid_t pid, const std::string& name, const std::string& value);

// The root processes and all their descendants among `all`.
std::set<pid_t> with_descendants(std::set<pid_t> roots, const std::map<pid_t, Process>& all);

// A process and its ancestors among `all`.
std::set<pid_t> with_ancestors(pid_t pid, const std::map<pid_t, Process>& all);

}  // namespace base
