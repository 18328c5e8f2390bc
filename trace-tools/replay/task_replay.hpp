// Tasks that one thread of a process gives to another and waits for, as regions of the program's own tell by their OTF2
// roles: one that creates a task (TASK_CREATE), does it (TASK), waits until all are done (TASK_WAIT).
#pragma once

#include "trace-tools/replay/replay_state.hpp"

#include <cstdint>
#include <vector>

namespace otf2 {

// Where causes are followed.
class TaskReplay {
 public:
    explicit TaskReplay(ReplayState& state) : state_{state}, processes_(state.archive.processes.size()) {}

    void create(std::uint32_t location);
    // The location did nothing in `where` since `idle_since_ns`. A task that no region creates is created by the last
    // event of who creates others.
    void begin(std::uint32_t location, std::int64_t idle_since_ns, std::uint32_t where);
    // Of whatever else a thread does after nothing: created likewise.
    void begin_other(std::uint32_t location, std::int64_t idle_since_ns);
    void end(std::uint32_t location);
    // The location was in the region that waits, and in none inside, since its last event.
    void end_wait(std::uint32_t location, std::int64_t now_ns, std::uint32_t where);

    bool passed_on() const { return passed_on_; }  // any task, from one thread to another

 private:
    // Only the last ones: a task waits for the last of those that create it, a thread for the last of those it waits
    // for.
    struct Process {
        std::uint32_t creator = nowhere;
        Lead created;  // since the creator's last wait
        Lead done;
    };

    void begin_last_of(std::uint32_t creator, std::uint32_t location, std::int64_t idle_since_ns, std::uint32_t where);
    void take_up(const Lead& created, std::uint32_t location, std::int64_t idle_since_ns, std::uint32_t where);
    Process* process_of(std::uint32_t location);  // null where an archive does not tell

    ReplayState& state_;
    std::vector<Process> processes_;
    bool passed_on_ = false;
};

}  // namespace otf2
