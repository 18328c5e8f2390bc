// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/replay/task_replay.hpp"

namespace replay {

TaskReplay::Process* TaskReplay::process_of(std::uint32_t location)
{
    const std::uint32_t process = state_.archive.locations[location].process;
    return process < processes_.size() ? &processes_[process] : nullptr;
}

void TaskReplay::create(std::uint32_t location)
{
    Process* const process = process_of(location);
    if (process == nullptr) return;
    process->creator = location;
    process->created = state_.delays.hand_off(location);
}

void TaskReplay::begin(std::uint32_t location, std::int64_t idle_since_ns, std::uint32_t where)
{
    Process* const process = process_of(location);
    if (process == nullptr) return;
    if (process->created.location == otf2::nowhere)
        begin_created_by(process->creator, location, idle_since_ns, where);
    else
        start(process->created, location, idle_since_ns, where);
}

void TaskReplay::begin_untagged(std::uint32_t location, std::int64_t idle_since_ns)
{
    if (Process* const process = process_of(location))
        begin_created_by(process->creator, location, idle_since_ns, otf2::nowhere);
}

void TaskReplay::begin_created_by(std::uint32_t creator, std::uint32_t location, std::int64_t idle_since_ns,
                                  std::uint32_t where)
{
    if (creator != otf2::nowhere && creator != location)
        start(state_.delays.hand_off(creator), location, idle_since_ns, where);
}

void TaskReplay::start(const Handoff& created, std::uint32_t location, std::int64_t idle_since_ns, std::uint32_t where)
{
    if (created.location == location) return;
    any_ = true;
    state_.delays.start_task(location, created, idle_since_ns, where);
}

void TaskReplay::end(std::uint32_t location)
{
    if (Process* const process = process_of(location)) process->done = state_.delays.hand_off(location);
}

void TaskReplay::end_wait(std::uint32_t location, std::int64_t now_ns, std::uint32_t where)
{
    Process* const process = process_of(location);
    if (process == nullptr || process->done.location == otf2::nowhere || process->done.location == location)
        return state_.delays.work_until(location, now_ns, where);
    any_ = true;
    state_.delays.join_task(location, now_ns, where, process->done);
    process->created = {};
}

}  // namespace replay
