#include "noisegen/stressors/job/job_keeper.hpp"

#include "base/contract/variables.hpp"
#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "base/system/cpus.hpp"
#include "base/system/waiting.hpp"
#include "base/words.hpp"
#include "noisegen/stressors/job/freezer.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
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

std::int64_t resident_bytes(const std::set<pid_t>& processes)
{
    std::int64_t pages = 0;
    for (const pid_t pid : processes) {
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

// In the new process. Returns errno if the program could not be started.
int become(const JobStart& start, int go)
{
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    base::bind_this_thread(base::parse_cpus(start.cpus));
    ::setenv(base::variable::harvest, start.harvest.c_str(), 1);
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
    Keeper(const JobStart& start, int pipe, int answers) : pipe_{pipe}, answers_{answers}
    {
        base::check_errno(::prctl(PR_SET_CHILD_SUBREAPER, 1), "become the reaper of orphans");
        refused_ = begin(start);
    }

    // Nothing of the job is left, but what the kernel does not let end, on a disk that does not answer.
    ~Keeper()
    {
        constexpr std::int64_t patience_ns = 5'000'000'000;
        const auto all_ended = [this] {
            reap();
            const std::set<pid_t> left = descendants();
            for (const pid_t pid : left) ::kill(pid, SIGKILL);
            freezer_->thaw();
            return left.empty();
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
        freezer_->freeze();
        frozen_ns_ = base::now_ns();
        goes_on_ = false;
    }

    void thaw()
    {
        freezer_->thaw();
        goes_on_ = true;
    }

    // Frozen as soon as it has begun. Returns errno if the program could not be started.
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
        freezer_ = freezer_of(job);
        ::close(go[0]);
        ::close(why[1]);
        ::close(go[1]);
        int code = 0;
        const ssize_t got = ::read(why[0], &code, sizeof code);  // 0 bytes once the program runs
        freeze();
        ::close(why[0]);
        return got == sizeof code ? code : 0;
    }

    bool answer() const
    {
        JobNews news{.frozen_ns = frozen_ns_, .refused = refused_};
        const std::set<pid_t> mine = descendants();
        news.resident_bytes = resident_bytes(mine);
        news.processes = static_cast<std::int32_t>(mine.size());
        std::strncpy(news.freezer, freezer_->name(), sizeof news.freezer - 1);
        return ::write(answers_, &news, sizeof news) == sizeof news;
    }

    int pipe_;
    int answers_;
    int refused_ = 0;
    std::unique_ptr<Freezer> freezer_;
    bool goes_on_ = false;
    std::int64_t until_ns_ = 0;
    std::int64_t frozen_ns_ = 0;
};

}  // namespace

std::string to_word(const JobStart& start)
{
    const std::string how = start.by_shell ? command_option : file_option;
    std::string word =
        start.cpus + between + how + between + start.program + between + start.harvest + between + start.log;
    if (std::count(word.begin(), word.end(), between) != 4)
        base::fail_usage("job.run[", how, "=", base::shell_word(start.program),
                         "]: neither it nor the name of --out may have a line break");
    return word;
}

JobStart job_start(const std::string& word)
{
    std::istringstream lines{word};
    std::vector<std::string> parts;
    for (std::string part; std::getline(lines, part, between);) parts.push_back(part);
    if (parts.size() != 5) base::fail("no job to keep");
    return {.cpus = parts[0],
            .program = parts[2],
            .by_shell = parts[1] == command_option,
            .harvest = parts[3],
            .log = parts[4]};
}

void keep_job(const JobStart& start, int pipe, int answers)
{
    // Before the job, which keeps a CPU busy; where that is not allowed, as soon as the kernel lets it.
    sched_param priority{};
    priority.sched_priority = 1;
    ::sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &priority);
    Keeper{start, pipe, answers}.keep();
}

}  // namespace noisegen
