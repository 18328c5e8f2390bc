// SPDX-License-Identifier: Apache-2.0
// The processes of this machine that can be seen, from /proc.
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
    char state = '?';           // as /proc/PID/stat shows it: R, S, D, T (stopped), ..
    std::uint64_t started = 0;  // clock ticks since boot: tells a process from a later one with the same number
    std::uint32_t owner = 0;    // its effective user
};

// All but zombies; one that ends meanwhile is left out.
std::map<pid_t, Process> processes();

// None if it has ended, is a zombie, or is hidden.
std::map<pid_t, Process> processes(const std::set<pid_t>& only);

// Threads of a process by their ids, as processes() describes them.
std::map<pid_t, Process> threads_of(pid_t pid);

// Now, as Process::started counts.
std::uint64_t ticks_since_boot();

// Children of these that live and that /proc does not show: of another user, where it is mounted with hidepid.
std::set<pid_t> hidden_children(const std::set<pid_t>& parents);

// Is the variable of its environment, as that was when it began, this? False for another user's process.
bool has_variable(pid_t pid, const std::string& name, const std::string& value);

// These and their children, grandchildren and so on among `all`.
std::set<pid_t> with_descendants(std::set<pid_t> roots, const std::map<pid_t, Process>& all);

// A process and its ancestors among `all`.
std::set<pid_t> with_ancestors(pid_t pid, const std::map<pid_t, Process>& all);

}  // namespace base
