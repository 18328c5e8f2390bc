// SPDX-License-Identifier: Apache-2.0
#include "noisegen/stressors/control/process_stopper.hpp"

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "base/system/processes.hpp"

#include <algorithm>
#include <csignal>

#include <sys/syscall.h>
#include <unistd.h>

namespace noisegen {

namespace {

bool is_stopped(const base::Process& process)
{
    return process.state == 'T' || process.state == 't';
}

}  // namespace

ProcessStopper::ProcessStopper() : guardian_{Guardian::Duty::pause, "", {}} {}

ProcessStopper::~ProcessStopper()
{
    forget();
}

void ProcessStopper::choose(std::set<pid_t> roots, const std::map<pid_t, base::Process>& named)
{
    forget();
    const std::map<pid_t, base::Process> all = base::processes();
    for (const auto& [pid, process] : named)
        if (const auto found = all.find(pid); found != all.end() && found->second.started == process.started)
            roots.insert(pid);
    const std::set<pid_t> family = base::with_ancestors(::getpid(), all);
    for (const pid_t pid : base::with_descendants(roots, all)) {
        const auto found = all.find(pid);
        if (found == all.end() || is_stopped(found->second)) continue;
        if (family.contains(pid)) base::fail("process ", pid, " is noisegen or its ancestor and is not stopped");
        if (found->second.owner != ::geteuid())
            base::fail("process ", pid, " (", found->second.name, ") belongs to another user and is not stopped");
        const auto file = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
        if (file < 0 && errno == ESRCH) continue;
        base::Descriptor opened = base::check_errno(file, "open process ", pid);
        // The process may have ended since, and another one may have its PID.
        if (const auto now = base::processes({pid}); now.empty() || now.at(pid).started != found->second.started)
            continue;
        files_[pid] = opened.release();
        tell({.kind = PauseNews::Kind::add, .pid = pid});
    }
}

ProcessStopper::Pause ProcessStopper::pause(std::int64_t length_ns)
{
    // Sends SIGCONT when the pause ends, even by an exception.
    struct GoOn {
        const ProcessStopper& stopper;
        ~GoOn() { stopper.signal(SIGCONT); }
    };
    std::set<pid_t> pids;
    for (const auto& [pid, file] : files_) pids.insert(pid);
    const std::int64_t told_ns = base::now_ns() + length_ns;
    if (!tell({.kind = PauseNews::Kind::begin, .until_ns = told_ns}))
        base::fail("the guardian that ends pauses has died: no process is stopped");
    Pause pause;
    {
        const GoOn go_on{*this};
        signal(SIGSTOP);
        pause.begin_ns = base::now_ns();
        while (base::now_ns() < pause.begin_ns + length_ns) base::sleep_until_ns(pause.begin_ns + length_ns);
        const std::map<pid_t, base::Process> found = base::processes(pids);
        pause.all_stopped =
            std::all_of(found.begin(), found.end(), [](const auto& entry) { return is_stopped(entry.second); });
        // Had this process been held up, the guardian would have ended the pause, perhaps before it began here.
        pause.end_ns = std::max(pause.begin_ns, std::min(base::now_ns(), told_ns + pause_grace_ns));
    }
    tell({.kind = PauseNews::Kind::end});
    return pause;
}

void ProcessStopper::forget()
{
    for (const auto& [pid, file] : files_) ::close(file);
    files_.clear();
    tell({.kind = PauseNews::Kind::forget});
}

void ProcessStopper::signal(int number) const
{
    for (const auto& [pid, file] : files_) ::syscall(SYS_pidfd_send_signal, file, number, nullptr, 0);
}

bool ProcessStopper::tell(const PauseNews& news) const
{
    return guardian_.pipe() < 0 || ::write(guardian_.pipe(), &news, sizeof news) == sizeof news;
}

}  // namespace noisegen
