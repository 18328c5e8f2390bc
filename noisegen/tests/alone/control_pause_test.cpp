// SPDX-License-Identifier: Apache-2.0
// control.pause: stops the processes of a training for known times, and never for longer.
#include "base/contract/control_file.hpp"
#include "base/csv.hpp"
#include "base/system/clock.hpp"
#include "base/system/processes.hpp"
#include "testing/child.hpp"
#include "testing/noise_runs.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <sstream>

#include <linux/sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace testing;

namespace {

// Reads the clock continuously; on SIGTERM it prints the gaps of more than 3 ms: begin and end, in ns.
const std::vector<std::string> watcher{"python3", "-c",
                                       "import signal, sys, time\n"
                                       "gaps = []\n"
                                       "def end(*_):\n"
                                       "    print('\\n'.join(f'{a} {b}' for a, b in gaps)); sys.exit(0)\n"
                                       "signal.signal(signal.SIGTERM, end)\n"
                                       "last = time.monotonic_ns()\n"
                                       "print('ready', flush=True)\n"
                                       "while True:\n"
                                       "    now = time.monotonic_ns()\n"
                                       "    if now - last > 3_000_000: gaps.append((last, now))\n"
                                       "    last = now\n"};

std::vector<std::pair<std::int64_t, std::int64_t>> gaps_of(Child& victim)
{
    victim.signal(SIGTERM);
    REQUIRE(victim.wait() == 0);
    std::istringstream lines{victim.output()};
    std::string ready;
    lines >> ready;
    std::vector<std::pair<std::int64_t, std::int64_t>> gaps;
    for (std::int64_t begin = 0, end = 0; lines >> begin >> end;) gaps.emplace_back(begin, end);
    return gaps;
}

bool is_stopped(pid_t pid)
{
    const std::map<pid_t, base::Process> found = base::processes({pid});
    return !found.empty() && found.at(pid).state == 'T';
}

std::vector<std::string> pausing(const Scratch& scratch, pid_t victim, const std::string& schedule)
{
    std::vector<std::string> words = long_run(scratch, schedule);
    words.insert(words.end(), {"--victim", std::to_string(victim), "--share"});
    return words;
}

// A sleeping process with this PID; 0 if the kernel does not assign it.
pid_t sleeper_with_number(pid_t number)
{
    clone_args wanted{};
    wanted.exit_signal = SIGCHLD;
    wanted.set_tid = reinterpret_cast<std::uint64_t>(&number);
    wanted.set_tid_size = 1;
    const long made = ::syscall(SYS_clone3, &wanted, sizeof wanted);
    if (made == 0) {
        ::execlp("sleep", "sleep", "60", nullptr);
        ::_exit(127);
    }
    return made > 0 ? static_cast<pid_t>(made) : 0;
}

}  // namespace

TEST_CASE("a process that gets the number of a victim that has ended is not stopped")
{
    const Scratch scratch;
    Child victim{watcher};
    REQUIRE(eventually([&] { return victim.output().starts_with("ready"); }));
    const pid_t number = victim.pid();
    Child noise{pausing(scratch, number, "control.pause[stop=40ms,every=80ms] 200ms; quiet 20ms")};
    REQUIRE(eventually([&] { return has_rows(part(scratch) / "noise.csv", 2); }));
    victim.signal(SIGKILL);
    victim.wait();
    const pid_t other = sleeper_with_number(number);
    if (other == 0) return testing::skip("needs to choose the number of a process (root, Linux 5.5)");
    std::size_t stopped = 0;
    const std::int64_t end_ns = base::now_ns() + 1'500'000'000;
    while (base::now_ns() < end_ns) {
        stopped += is_stopped(other) ? 1 : 0;
        base::sleep_until_ns(base::now_ns() + 5'000'000);
    }
    CHECK(stopped == 0);
    ::kill(other, SIGKILL);
    ::waitpid(other, nullptr, 0);
    noise.signal(SIGTERM);
    noise.wait();
}

TEST_CASE("a pause stops the victim for the time that is recorded")
{
    const Scratch scratch;
    Child victim{watcher};
    REQUIRE(eventually([&] { return victim.output().starts_with("ready"); }));
    Child noise{pausing(scratch, victim.pid(), "control.pause[stop=10ms,every=100ms] 500ms; quiet 100ms")};
    REQUIRE(eventually([&] { return has_rows(part(scratch) / "noise.csv", 2); }));
    noise.signal(SIGTERM);
    CHECK(noise.wait() == 0);

    const auto gaps = gaps_of(victim);
    const base::CsvTable pauses{part(scratch) / "pauses.csv"};
    REQUIRE(pauses.rows() >= 5);
    for (std::size_t row = 0; row < pauses.rows(); ++row) {
        const auto begin = pauses.get<std::int64_t>(row, "begin_ns");
        const auto end = pauses.get<std::int64_t>(row, "end_ns");
        CHECK(end - begin >= 10'000'000);
        // A stop takes effect immediately, so the victim read the clock for the last time at most a moment later.
        const bool seen = std::any_of(gaps.begin(), gaps.end(), [&](const auto& gap) {
            return gap.first < begin + 2'000'000 && gap.second > end;
        });
        CHECK(seen);
    }
    CHECK(record(part(scratch))["stressors"][0]["how"] == "stopped 1 process");
}

TEST_CASE("a victim continues if noisegen is killed in a pause, and if it is stopped itself")
{
    for (const int signal : {SIGKILL, SIGSTOP}) {
        const Scratch scratch;
        Child victim{watcher};
        Child noise{pausing(scratch, victim.pid(), "control.pause[stop=50ms,every=100ms] 10s")};
        REQUIRE(eventually([&] { return is_stopped(victim.pid()); }));
        noise.signal(signal);
        CHECK(eventually([&] { return !is_stopped(victim.pid()); }));
        if (signal == SIGSTOP) noise.signal(SIGCONT);
    }
}

TEST_CASE("a pause stops the processes in the control file and their children")
{
    const Scratch scratch;
    base::ControlFile control = base::ControlFile::open(scratch / "run", base::host_name());
    Child shell{{"sh", "-c", "sleep 60 & wait"}};
    const auto sleeper = [&] {
        for (const auto& [pid, process] : base::processes())
            if (process.parent == shell.pid()) return pid;
        return 0;
    };
    REQUIRE(eventually([&] { return sleeper() != 0; }));
    const std::uint64_t started = base::processes({shell.pid()}).at(shell.pid()).started;
    control.page().processes[3] = started << 22U | static_cast<std::uint64_t>(shell.pid());
    Child noise{long_run(scratch, "control.pause[stop=40ms,every=80ms] 10s")};
    CHECK(eventually([&] { return is_stopped(shell.pid()) && is_stopped(sleeper()); }));
    noise.signal(SIGTERM);
    CHECK(noise.wait() == 0);
    CHECK_FALSE(is_stopped(sleeper()));
    ::kill(sleeper(), SIGKILL);
}

TEST_CASE("processes of others, and those that noisegen descends from, are not stopped")
{
    const Scratch scratch;
    const auto refused = [&](pid_t victim, const std::string& why) {
        const Outcome outcome = run_noisegen({"--schedule", "control.pause 1s", "--duration", "2s", "--cpus", cpu(),
                                              "--share", "--out", scratch / "run", "--victim", std::to_string(victim)});
        INFO(outcome.err);
        CHECK(outcome.status != 0);
        CHECK(outcome.err.find(why) != std::string::npos);
    };
    refused(::getpid(), "is not stopped");
    if (::geteuid() != 0) return refused(1, "stopped");  // a process of another user, or an ancestor
    Child other{{"setpriv", "--reuid=65534", "--clear-groups", "sleep", "60"}};
    REQUIRE(eventually([&] {
        const auto found = base::processes({other.pid()});
        return !found.empty() && found.at(other.pid()).owner == 65534;
    }));
    refused(other.pid(), "belongs to another user");
    CHECK_FALSE(is_stopped(other.pid()));
}

TEST_CASE("without any process to stop it says so")
{
    const Scratch scratch;
    const Outcome outcome = run_noisegen(
        {"--schedule", "control.pause 2s", "--duration", "2s", "--cpus", cpu(), "--share", "--out", scratch / "run"});
    CHECK(outcome.status == 3);
    CHECK(outcome.err.find("control.pause was on, but no training reacted") != std::string::npos);
    CHECK(record(part(scratch))["stressors"][0]["how"].get<std::string>().find("stopped no process") == 0);
}

TEST_CASE("a victim without a pause in the schedule is refused")
{
    const Outcome outcome =
        run_noisegen({"--schedule", "C1S1", "--victim", std::to_string(::getpid()), "--out", "nowhere"});
    CHECK(outcome.status == 2);
    CHECK(outcome.err.find("--victim is for control.pause and job.cores") != std::string::npos);
}

TEST_CASE("pauses that would be no pauses are refused")
{
    for (const std::string options : {"stop=0s", "stop=1s", "stop=10ms,every=15ms"}) {
        const Outcome outcome = run_noisegen({"--schedule", "control.pause[" + options + "] 1s", "--dry-run"});
        CHECK(outcome.status == 2);
        CHECK(outcome.err.find("control.pause[") != std::string::npos);
    }
}
