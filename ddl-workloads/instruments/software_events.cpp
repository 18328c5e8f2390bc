// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/instruments/software_events.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/system/cpus.hpp"
#include "base/words.hpp"

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <system_error>

#include <linux/perf_event.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ddl {

namespace {

struct Known {
    SoftwareEvent event;
    std::uint64_t config;  // the event's number for perf_event_open
    std::int64_t (*of)(const rusage& usage);
};

std::int64_t ns(const timeval& time)
{
    return std::int64_t{time.tv_sec} * 1'000'000'000 + std::int64_t{time.tv_usec} * 1'000;
}

constexpr bool in_resource_usage = true;

const std::vector<Known>& all_known()
{
    static const std::vector<Known> known{
        {{"task-clock", "ns", "time on a CPU", in_resource_usage},
         PERF_COUNT_SW_TASK_CLOCK,
         [](const rusage& usage) { return ns(usage.ru_utime) + ns(usage.ru_stime); }},
        {{"context-switches", "#", "switches to another thread", in_resource_usage},
         PERF_COUNT_SW_CONTEXT_SWITCHES,
         [](const rusage& usage) { return std::int64_t{usage.ru_nvcsw} + usage.ru_nivcsw; }},
        {{"cpu-migrations", "#", "moves to another CPU"}, PERF_COUNT_SW_CPU_MIGRATIONS, nullptr},
        {{"minor-faults", "#", "page faults without I/O", in_resource_usage},
         PERF_COUNT_SW_PAGE_FAULTS_MIN,
         [](const rusage& usage) { return std::int64_t{usage.ru_minflt}; }},
        {{"major-faults", "#", "page faults with I/O", in_resource_usage},
         PERF_COUNT_SW_PAGE_FAULTS_MAJ,
         [](const rusage& usage) { return std::int64_t{usage.ru_majflt}; }},
    };
    return known;
}

const Known& known(const std::string& name)
{
    const auto named = [&name](const Known& one) { return one.event.name == name; };
    const auto found = std::find_if(all_known().begin(), all_known().end(), named);
    if (found == all_known().end()) throw std::logic_error{name + " is not a software event"};
    return *found;
}

std::string why_not(int code)
{
    std::string why = "perf_event_open: " + std::generic_category().message(code);
    if (code != EACCES && code != EPERM) return why;
    try {
        const std::string level = base::read_whole("/proc/sys/kernel/perf_event_paranoid");
        return why + " (kernel.perf_event_paranoid is " + std::string{base::trim(level)} + ")";
    } catch (const base::Error&) {
        return why;
    }
}

int open_counter(std::uint64_t config, pid_t thread)
{
    perf_event_attr what{};
    what.size = sizeof what;
    what.type = PERF_TYPE_SOFTWARE;
    what.config = config;
    what.inherit = 1;
    return static_cast<int>(::syscall(SYS_perf_event_open, &what, thread, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

std::int64_t value_of(int file)
{
    std::uint64_t value = 0;
    if (::read(file, &value, sizeof value) != sizeof value) base::fail("cannot read a counter of perf_event_open");
    return static_cast<std::int64_t>(value);
}

}  // namespace

const std::vector<SoftwareEvent>& software_events()
{
    static const std::vector<SoftwareEvent> events = [] {
        std::vector<SoftwareEvent> all;
        for (const Known& one : all_known()) all.push_back(one.event);
        return all;
    }();
    return events;
}

const SoftwareEvent* find_software_event(const std::string& name)
{
    const auto named = [&name](const SoftwareEvent& event) { return event.name == name; };
    const auto found = std::find_if(software_events().begin(), software_events().end(), named);
    return found == software_events().end() ? nullptr : &*found;
}

SoftwareEventCounts::SoftwareEventCounts(const std::vector<std::string>& names)
{
    const std::vector<pid_t> threads = base::threads_of_this_process();
    for (const std::string& name : names) {
        std::vector<int>& files = files_.emplace_back();
        for (const pid_t thread : threads) {
            const int file = open_counter(known(name).config, thread);
            const int code = errno;
            if (file >= 0) files.push_back(file);
            if (file >= 0 || code == ESRCH) continue;  // the thread has just ended
            close();
            base::unavailable(why_not(code));
        }
    }
}

SoftwareEventCounts::~SoftwareEventCounts()
{
    close();
}

void SoftwareEventCounts::close() noexcept
{
    for (const std::vector<int>& files : files_)
        for (const int file : files) ::close(file);
}

std::vector<std::int64_t> SoftwareEventCounts::read() const
{
    std::vector<std::int64_t> values;
    for (const std::vector<int>& files : files_)
        values.push_back(std::accumulate(files.begin(), files.end(), std::int64_t{0},
                                         [](std::int64_t sum, int file) { return sum + value_of(file); }));
    return values;
}

std::vector<std::int64_t> resource_usage(const std::vector<std::string>& names)
{
    rusage usage{};
    base::check_errno(::getrusage(RUSAGE_SELF, &usage), "get the resource usage");
    std::vector<std::int64_t> values;
    for (const std::string& name : names) values.push_back(known(name).of(usage));
    return values;
}

}  // namespace ddl
