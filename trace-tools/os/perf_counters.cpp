// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/os/perf_counters.hpp"

#include "base/error.hpp"
#include "base/system/cgroups.hpp"

#include <array>
#include <cerrno>
#include <cstring>

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace os {

using base::os::Row;

namespace {

struct Event {
    const char* cause;
    std::uint32_t type;
    std::uint64_t config;
};

constexpr std::array events{
    Event{base::os::cause::cycles, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    Event{base::os::cause::instructions, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    Event{base::os::cause::llc_misses, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    Event{base::os::cause::migrations, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
};

// Children of the thread do not inherit the counter, because they are counted themselves.
base::Descriptor open_event(const Event& event, pid_t thread)
{
    perf_event_attr wanted{};
    wanted.size = sizeof wanted;
    wanted.type = event.type;
    wanted.config = event.config;
    wanted.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    const bool of_program = event.type == PERF_TYPE_HARDWARE;  // migrations happen in the kernel
    wanted.exclude_kernel = of_program;
    wanted.exclude_hv = of_program;
    return static_cast<int>(::syscall(SYS_perf_event_open, &wanted, thread, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

// If there are more events than hardware counters, the kernel counts each for a part of the time; this scales the
// count.
std::int64_t scaled_count(int file)
{
    struct {
        std::uint64_t count;
        std::uint64_t enabled_ns;
        std::uint64_t running_ns;
    } now{};
    if (::read(file, &now, sizeof now) != static_cast<ssize_t>(sizeof now) || now.running_ns == 0) return 0;
    const double part = static_cast<double>(now.running_ns) / static_cast<double>(now.enabled_ns);
    return static_cast<std::int64_t>(static_cast<double>(now.count) / part);
}

std::string reason(int code, int highest_level)
{
    if (code == 0) return {};
    if (code == ENOENT || code == EOPNOTSUPP) return "no hardware counters, as in most virtual machines";
    const auto level = base::number_in("/proc/sys/kernel/perf_event_paranoid").value_or(0);
    if ((code == EACCES || code == EPERM) && level > highest_level)
        return base::join("kernel.perf_event_paranoid is ", level,
                          ": sysctl kernel.perf_event_paranoid=", highest_level);
    return base::join("perf_event_open: ", std::strerror(code));
}

}  // namespace

PerfCounters::PerfCounters()
{
    for (const Event& event : events) {
        const base::Descriptor file = open_event(event, 0);
        lacks_.push_back(file < 0 ? errno : 0);
    }
}

std::vector<Source> PerfCounters::sources() const
{
    return {{"perf", "cycles, instructions, cache misses, of 200 threads at most", reason(lacks_.front(), 2)},
            {"migrations", "moves of threads from CPU to CPU", reason(lacks_.back(), 1)}};
}

void PerfCounters::open(pid_t thread)
{
    std::vector<Counter>& counters = threads_[thread];
    for (std::size_t event = 0; event < events.size(); ++event) {
        if (lacks_[event] != 0) continue;
        base::Descriptor file = open_event(events[event], thread);
        if (file >= 0) counters.push_back({event, std::move(file)});
    }
}

void PerfCounters::read_thread(pid_t thread, std::vector<Counter>& counters, std::vector<Row>& rows) const
{
    for (Counter& counter : counters) {
        const std::int64_t count = scaled_count(counter.file);
        if (count <= counter.count) continue;
        Row row;
        row.begin_ns = before_ns_;
        row.end_ns = now_ns_;
        row.source = "perf";
        row.cause = events[counter.event].cause;
        row.thread = thread;
        row.count = count - counter.count;
        rows.push_back(std::move(row));
        counter.count = count;
    }
}

std::vector<Row> PerfCounters::read(const Job& job, std::int64_t now_ns)
{
    now_ns_ = now_ns;
    std::vector<Row> rows;
    for (auto& [thread, counters] : threads_) read_thread(thread, counters, rows);
    // Threads that have ended were read for the last time.
    std::erase_if(threads_, [&](const auto& thread) { return !job.threads.contains(thread.first); });
    for (const auto& [thread, about] : counted_threads(job))
        if (threads_.size() < most_counted && !threads_.contains(thread)) open(thread);
    before_ns_ = now_ns;
    return rows;
}

}  // namespace os
