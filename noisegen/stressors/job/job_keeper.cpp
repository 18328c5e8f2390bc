// SPDX-License-Identifier: Apache-2.0
#include "noisegen/stressors/job/job_keeper.hpp"

#include "base/contract/variables.hpp"
#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "base/system/cpus.hpp"
#include "base/system/waiting.hpp"
#include "base/words.hpp"
#include "noisegen/stressors/job/freezer.hpp"
#include "noisegen/stressors/job/job_family.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace noisegen {

namespace {

constexpr char between = '\n';
constexpr const char* file_option = "file";
constexpr const char* command_option = "command";

using Family = std::map<pid_t, base::Process>;

std::int64_t resident_bytes(const Family& family)
{
    std::int64_t pages = 0;
    for (const auto& [pid, process] : family) {
        std::ifstream statm{base::join("/proc/", pid, "/statm")};
        std::int64_t size = 0;
        std::int64_t resident = 0;
        if (statm >> size >> resident) pages += resident;
    }
    return pages * ::sysconf(_SC_PAGESIZE);
}

void reap()
{
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
}

// Runs in the new process. Returns errno if the program could not be started.
int become(const JobStart& start, int go)
{
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    base::bind_this_thread(base::parse_cpus(start.cpus));
    ::setenv(base::variable::harvest, start.harvest.c_str(), 1);
    ::setenv(base::variable::neighbour, start.mark.c_str(), 1);
    const int log = ::open(start.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    for (const int file : {STDOUT_FILENO, STDERR_FILENO})
        if (log >= 0) ::dup2(log, file);
    char nothing = 0;
    while (::read(go, &nothing, 1) < 0 && errno == EINTR) {
    }
    if (start.by_shell)
        ::execl("/bin/sh", "sh", "-c", start.program.c_str(), nullptr);
    else
        ::execl(start.program.c_str(), start.program.c_str(), nullptr);
    return errno;
}

class Keeper {
 public:
    Keeper(const JobStart& start, int pipe, int answers)
        : pipe_{pipe}, answers_{answers}, cpus_{base::parse_cpus(start.cpus)}, family_{start.mark}
    {
        base::check_errno(::prctl(PR_SET_CHILD_SUBREAPER, 1), "become a child subreaper");
        refused_ = begin(start);
        std::ofstream{"/proc/self/oom_score_adj"} << 0 << std::flush;  // on OOM the job is killed, not its keeper
    }

    // Ends all processes of the job, except those that the kernel cannot end, such as in I/O on a hung disk.
    ~Keeper()
    {
        constexpr std::int64_t patience_ns = 5'000'000'000;
        const auto all_ended = [this] {
            reap();
            const Family left = family_.look();
            for (const auto& [pid, process] : left) ::kill(pid, SIGKILL);
            for (const pid_t pid : family_.hidden()) ::kill(pid, SIGKILL);
            if (group_) group_->thaw();
            return left.empty() && family_.hidden().empty();
        };
        base::wait_until(all_ended, patience_ns);
    }
    Keeper(const Keeper&) = delete;
    Keeper& operator=(const Keeper&) = delete;

    void keep()
    {
        constexpr std::int64_t look_after_children_ns = 200'000'000;
        if (!answer() || refused_ != 0) return;
        while (true) {
            pollfd waiting{pipe_, POLLIN, 0};
            const std::int64_t left_ns =
                std::clamp<std::int64_t>(until_ns_ - base::now_ns(), 0, look_after_children_ns);
            const timespec wait{.tv_sec = 0, .tv_nsec = goes_on_ ? left_ns : look_after_children_ns};
            const int came = ::ppoll(&waiting, 1, &wait, nullptr);
            if (goes_on_ && base::now_ns() >= until_ns_) freeze();
            reap();
            if (came == 0 || (came < 0 && errno == EINTR)) continue;
            JobUntil until_ns = 0;
            const ssize_t got = ::read(pipe_, &until_ns, sizeof until_ns);
            if (got < 0 && errno == EINTR) continue;
            if (got != sizeof until_ns) return;
            until_ns_ = until_ns;
            if (until_ns_ > base::now_ns())
                thaw();
            else if (goes_on_)
                freeze();
            if (!answer()) return;
        }
    }

 private:
    void freeze()
    {
        if (group_) group_->freeze();
        frozen_ns_ = base::now_ns();
        if (stop_strays()) frozen_ns_ = base::now_ns();
        goes_on_ = false;
    }

    static bool is_stopped(const base::Process& process) { return process.state == 'T' || process.state == 't'; }

    // Stops processes that are not in the frozen group: all if there is no group, else those that were moved out of it.
    // Returns true if there are any.
    bool stop_strays()
    {
        strays_.clear();
        const auto all_rest = [&] {
            bool all = true;
            for (const auto& [pid, process] : family_.look()) {
                if (group_ && group_->holds(pid)) continue;
                if (!is_stopped(process) && (::kill(pid, SIGSTOP) == 0 || errno != ESRCH)) all = false;
                strays_.insert(pid);
            }
            for (const pid_t pid : family_.hidden())
                if (strays_.insert(pid).second) ::kill(pid, SIGSTOP);
            return all;
        };
        base::wait_until(all_rest, freeze_within_ns, look_again_ns);
        most_hidden_ = std::max(most_hidden_, static_cast<int>(family_.hidden().size()));
        if (group_) most_strays_ = std::max(most_strays_, static_cast<int>(strays_.size()));
        return !strays_.empty();
    }

    // A process that waits for a CPU freezes only when it gets one: restless processes are counted at the end of the
    // freeze.
    void thaw()
    {
        int going_on = group_ && !group_->is_frozen() ? 1 : 0;
        for (const auto& [pid, process] : base::processes(strays_)) going_on += is_stopped(process) ? 0 : 1;
        if (!goes_on_) restless_ = std::max(restless_, going_on);
        if (group_) group_->thaw();
        for (const pid_t pid : strays_) ::kill(pid, SIGCONT);
        goes_on_ = true;
    }

    // The job is frozen as soon as it has begun. Returns errno if the program could not be started.
    int begin(const JobStart& start)
    {
        std::array<int, 2> go{};
        std::array<int, 2> why{};
        base::check_errno(::pipe2(go.data(), O_CLOEXEC), "make a pipe");
        base::check_errno(::pipe2(why.data(), O_CLOEXEC), "make a pipe");
        const pid_t job = base::check_errno(::fork(), "start a job");
        if (job == 0) {
            ::close(go[1]);
            const int code = become(start, go[0]);
            static_cast<void>(!::write(why[1], &code, sizeof code));
            ::_exit(127);
        }
        group_ = freezer_of(job);
        ::close(go[0]);
        ::close(why[1]);
        ::close(go[1]);
        int code = 0;
        const ssize_t got = ::read(why[0], &code, sizeof code);  // 0 bytes once exec has succeeded
        freeze();
        ::close(why[0]);
        return got == sizeof code ? code : 0;
    }

    bool answer()
    {
        JobNews news{.frozen_ns = frozen_ns_,
                     .refused = refused_,
                     .strays = most_strays_,
                     .restless = restless_,
                     .hidden = most_hidden_};
        const Family mine = family_.look();
        news.resident_bytes = resident_bytes(mine);
        news.processes = static_cast<std::int32_t>(mine.size());
        const auto may_leave = [this](const auto& entry) {
            const base::CpuSet may = base::affinity_of(entry.first);
            return !std::includes(cpus_.begin(), cpus_.end(), may.begin(), may.end());
        };
        news.elsewhere = static_cast<std::int32_t>(std::ranges::count_if(mine, may_leave));
        std::strncpy(news.freezer, group_ ? group_->name() : "signals", sizeof news.freezer - 1);
        return ::write(answers_, &news, sizeof news) == sizeof news;
    }

    int pipe_;
    int answers_;
    int refused_ = 0;
    base::CpuSet cpus_;
    JobFamily family_;
    std::unique_ptr<Freezer> group_;
    std::set<pid_t> strays_;  // processes stopped by signals
    int most_strays_ = 0;     // most processes that left the group
    int most_hidden_ = 0;     // most processes that /proc does not show
    int restless_ = 0;        // most processes that were not frozen in time
    bool goes_on_ = false;
    std::int64_t until_ns_ = 0;
    std::int64_t frozen_ns_ = 0;
};

}  // namespace

std::string to_word(const JobStart& start)
{
    const std::string how = start.by_shell ? command_option : file_option;
    std::string word = start.cpus + between + how + between + start.program + between + start.harvest + between +
                       start.log + between + start.mark;
    if (std::ranges::count(word, between) != 5)
        base::fail_usage("job.run[", how, "=", base::shell_word(start.program),
                         "]: line breaks are not allowed in it or in --out");
    return word;
}

JobStart job_start(const std::string& word)
{
    std::istringstream lines{word};
    std::vector<std::string> parts;
    for (std::string part; std::getline(lines, part, between);) parts.push_back(part);
    if (parts.size() != 6) base::fail("no job given");
    return {.cpus = parts[0],
            .program = parts[2],
            .by_shell = parts[1] == command_option,
            .harvest = parts[3],
            .log = parts[4],
            .mark = parts[5]};
}

void keep_job(const JobStart& start, int pipe, int answers)
{
    for (const int file : {pipe, answers}) ::fcntl(file, F_SETFD, FD_CLOEXEC);  // the job must not inherit them
    // Real-time priority over the job, which keeps a CPU busy; without permission the keeper runs when the kernel
    // schedules it.
    sched_param priority{};
    priority.sched_priority = 1;
    ::sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &priority);
    Keeper{start, pipe, answers}.keep();
}

}  // namespace noisegen
