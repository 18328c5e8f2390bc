// SPDX-License-Identifier: Apache-2.0
// Tasks that one thread of a process creates and another executes. The program's own regions show them by their OTF2
// roles: TASK_CREATE creates a task, TASK executes it, TASK_WAIT waits until all tasks are done.
#pragma once

#include "trace-tools/replay/replay_state.hpp"

#include <cstdint>
#include <vector>

namespace replay {

// Passes the critical path and delays from the thread that creates a task to the one that executes it, and from that to
// the one that waits for it. Used only if delays are analysed.
class TaskReplay {
 public:
    explicit TaskReplay(ReplayState& state) : state_{state}, processes_(state.archive.processes.size()) {}

    void create(std::uint32_t location);
    // The location was idle in `where` since `idle_since_ns`. A task without a TASK_CREATE counts as created by the
    // last event of the location that created the previous task.
    void begin(std::uint32_t location, std::int64_t idle_since_ns, std::uint32_t where);
    // Other work after idle time counts as a task without a TASK_CREATE.
    void begin_untagged(std::uint32_t location, std::int64_t idle_since_ns);
    void end(std::uint32_t location);
    // The location was directly inside a TASK_WAIT since its previous event.
    void end_wait(std::uint32_t location, std::int64_t now_ns, std::uint32_t where);

    bool any() const { return any_; }  // a thread executed a task created by another thread

 private:
    // Only the latest handoffs matter: a task starts after the last TASK_CREATE, a TASK_WAIT ends after the last TASK.
    struct Process {
        std::uint32_t creator = otf2::nowhere;
        Handoff created;  // latest since the creator's last wait
        Handoff done;
    };

    void begin_created_by(std::uint32_t creator, std::uint32_t location, std::int64_t idle_since_ns,
                          std::uint32_t where);
    void start(const Handoff& created, std::uint32_t location, std::int64_t idle_since_ns, std::uint32_t where);
    Process* process_of(std::uint32_t location);  // null: unknown

    ReplayState& state_;
    std::vector<Process> processes_;
    bool any_ = false;
};

}  // namespace replay
