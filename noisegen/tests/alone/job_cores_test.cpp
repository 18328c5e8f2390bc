// SPDX-License-Identifier: Apache-2.0
// job.cores: a job has fewer cores in its slots, and gets all of them back however the noise ends.
#include "base/csv.hpp"
#include "base/random.hpp"
#include "base/system/clock.hpp"
#include "base/system/cpus.hpp"
#include "base/system/environment.hpp"
#include "base/system/processes.hpp"
#include "testing/child.hpp"
#include "testing/noise_runs.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <set>

#include <unistd.h>

using namespace testing;

namespace {

using Masks = std::set<base::CpuSet>;

// Has two threads; on SIGUSR1 it starts one more and a child, on SIGUSR2 it binds itself to the given CPU.
std::vector<std::string> job(const std::string& cpu_on_signal = "0", const std::string& at_first = "")
{
    return {"python3", "-c",
            "import os, signal, subprocess, threading, time\n"
            "children = []\n" +
                at_first +
                "\n"
                "def grow(*_):\n"
                "    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n"
                "    children.append(subprocess.Popen(['sleep', '600']))\n"
                "def end(*_):\n"
                "    for child in children: child.kill()\n"
                "    os._exit(0)\n"
                "signal.signal(signal.SIGUSR1, grow)\n"
                "signal.signal(signal.SIGUSR2, lambda *_: os.sched_setaffinity(0, {" +
                cpu_on_signal +
                "}))\n"
                "signal.signal(signal.SIGTERM, end)\n"
                "threading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n"
                "print('ready', flush=True)\n"
                "while True: time.sleep(0.01)\n"};
}

bool is_ready(const Child& child)
{
    return eventually([&] { return child.output().find("ready") != std::string::npos; });
}

// The CPUs of all threads of the process and of its descendants.
Masks masks_of(pid_t pid)
{
    Masks masks;
    for (const pid_t process : base::with_descendants({pid}, base::processes()))
        for (const auto& [thread, what] : base::threads_of(process))
            if (base::CpuSet mask = base::affinity_of(thread); !mask.empty()) masks.insert(std::move(mask));
    return masks;
}

std::size_t threads_and_children(pid_t pid)
{
    return base::threads_of(pid).size() + base::with_descendants({pid}, base::processes()).size();
}

const base::CpuSet all = base::allowed_cpus();

base::CpuSet first_cores(std::size_t count)
{
    std::vector<base::Core> cores = base::physical_cores(all);
    cores.resize(std::min(count, cores.size()));
    return base::cpus_of(cores);
}

bool has_two_cores()
{
    const bool has = base::physical_cores(all).size() >= 2;
    if (!has) testing::skip("needs two cores");
    return has;
}

std::vector<std::string> taking_cores(const Scratch& scratch, pid_t victim, const std::string& schedule)
{
    return {program,   "--schedule",   schedule, "--cpus",   base::format_cpus(all),
            "--share", "--duration",   "10min",  "--victim", std::to_string(victim),
            "--out",   scratch / "run"};
}

Outcome refusal(const Scratch& scratch, const std::string& schedule, const std::vector<std::string>& more)
{
    std::vector<std::string> words{"--schedule", schedule, "--cpus", base::format_cpus(all), "--share",
                                   "--duration", "1s",     "--out",  scratch / "run"};
    words.insert(words.end(), more.begin(), more.end());
    return run_noisegen(words);
}

// Has the neighbour done any work so far while one core was kept?
bool has_worked(const std::filesystem::path& noise)
{
    if (!has_rows(noise, 1)) return false;
    const base::CsvTable rows{noise};
    for (std::size_t row = 0; row < rows.rows(); ++row)
        if (rows.text(row, "level") == "keep=1" && rows.get<std::int64_t>(row, "operations") > 0) return true;
    return false;
}

}  // namespace

TEST_CASE("a job has fewer cores in the slots of job.cores, and all of them in the others")
{
    if (!has_two_cores()) return;
    const Scratch scratch;
    Child victim{job()};
    REQUIRE(is_ready(victim));
    Child noise{taking_cores(scratch, victim.pid(), "job.cores[keep=1] 300ms; quiet 300ms")};
    for (int round = 0; round < 2; ++round) {
        CHECK(eventually([&] { return masks_of(victim.pid()) == Masks{first_cores(1)}; }));
        CHECK(eventually([&] { return masks_of(victim.pid()) == Masks{all}; }));
    }
    noise.signal(SIGTERM);
    CHECK(noise.wait() == 0);
    CHECK(masks_of(victim.pid()) == Masks{all});
    const auto json = record(part(scratch));
    CHECK(json["stressors"][0]["how"] == "confined 1 process (2 threads) to CPUs " + base::format_cpus(first_cores(1)));
    CHECK(json["stressors"][0]["kept_cpus"] == std::vector{base::format_cpus(first_cores(1))});
    CHECK(json["stressors"][0]["not_kept"] == "");
    CHECK(json["shared_on_purpose"] == true);
}

TEST_CASE("a job of two threads has the CPUs that taskset gives it by hand")
{
    if (!has_two_cores()) return;
    for (const std::size_t keep : {1U, 2U}) {
        const std::string by_hand = base::format_cpus(first_cores(keep));
        std::vector<std::string> words = job();
        words.insert(words.begin(), {"taskset", "-c", by_hand});
        Child truth{words};
        REQUIRE(is_ready(truth));
        const Scratch scratch;
        Child victim{job()};
        REQUIRE(is_ready(victim));
        Child noise{taking_cores(scratch, victim.pid(), base::join("job.cores[keep=", keep, "] 10min"))};
        CHECK(eventually([&] { return masks_of(victim.pid()) == masks_of(truth.pid()); }));
    }
}

TEST_CASE("threads and children that are born confined get back what their creators had")
{
    if (!has_two_cores()) return;
    const Scratch scratch;
    Child victim{job()};
    REQUIRE(is_ready(victim));
    Child noise{taking_cores(scratch, victim.pid(), "job.cores[keep=1] 10min")};
    REQUIRE(eventually([&] { return masks_of(victim.pid()) == Masks{first_cores(1)}; }));
    const std::size_t before = threads_and_children(victim.pid());
    victim.signal(SIGUSR1);
    REQUIRE(eventually([&] { return threads_and_children(victim.pid()) == before + 2; }));
    CHECK(eventually([&] { return masks_of(victim.pid()) == Masks{first_cores(1)}; }));
    noise.signal(SIGTERM);
    CHECK(noise.wait() == 0);
    CHECK(masks_of(victim.pid()) == Masks{all});
    victim.signal(SIGTERM);
    victim.wait();
}

TEST_CASE("a thread that had CPUs of its own has them back, and keeps those among them that the job keeps")
{
    if (!has_two_cores()) return;
    const Scratch scratch;
    const base::CpuSet last{*all.rbegin()};
    const std::string bind = base::join("threading.Thread(target=lambda: (os.sched_setaffinity(0, {", *all.rbegin(),
                                        "}), time.sleep(600)), daemon=True).start()");
    Child victim{job("0", bind)};
    REQUIRE(is_ready(victim));
    REQUIRE(eventually([&] { return masks_of(victim.pid()) == Masks{all, last}; }));
    Child noise{taking_cores(scratch, victim.pid(), "job.cores[keep=1] 300ms; quiet 300ms")};
    CHECK(eventually([&] { return masks_of(victim.pid()) == Masks{first_cores(1)}; }));
    CHECK(eventually([&] { return masks_of(victim.pid()) == Masks{all, last}; }));
    noise.signal(SIGTERM);
    noise.wait();
    CHECK(masks_of(victim.pid()) == Masks{all, last});
}

TEST_CASE("a thread that binds itself while it is confined keeps its choice, and the run says so")
{
    if (!has_two_cores()) return;
    const Scratch scratch;
    const base::CpuSet last{*all.rbegin()};
    Child victim{job(std::to_string(*all.rbegin()))};
    REQUIRE(is_ready(victim));
    Child noise{taking_cores(scratch, victim.pid(), "job.cores[keep=1] 10min")};
    REQUIRE(eventually([&] { return masks_of(victim.pid()) == Masks{first_cores(1)}; }));
    victim.signal(SIGUSR2);
    REQUIRE(eventually([&] { return masks_of(victim.pid()) == Masks{first_cores(1), last}; }));
    noise.signal(SIGTERM);
    CHECK(noise.wait() == 3);
    CHECK(masks_of(victim.pid()) == Masks{all, last});
    CHECK(record(part(scratch))["stressors"][0]["not_kept"] ==
          "1 threads of the job were bound to other CPUs meanwhile");
}

namespace {

using MaskOfThread = std::map<pid_t, base::CpuSet>;

MaskOfThread masks_by_thread(pid_t pid)
{
    MaskOfThread masks;
    for (const pid_t process : base::with_descendants({pid}, base::processes()))
        for (const auto& [thread, what] : base::threads_of(process)) masks[thread] = base::affinity_of(thread);
    return masks;
}

// Until the thread is confined: at most a second, and in small steps, unlike eventually().
void wait_for_a_slot(pid_t thread, const base::CpuSet& unconfined)
{
    const std::int64_t end_ns = base::now_ns() + 1'000'000'000;
    while (base::affinity_of(thread) != unconfined && base::now_ns() < end_ns) ::usleep(100);
    while (base::affinity_of(thread) == unconfined && base::now_ns() < end_ns) ::usleep(100);
}

// Every thread has the mask that it had before; those born since have that of the first thread.
bool are_as_before(const MaskOfThread& masks, const MaskOfThread& before, pid_t first)
{
    return std::all_of(masks.begin(), masks.end(), [&](const auto& thread) {
        const auto same = before.find(thread.first);
        return thread.second == (same == before.end() ? before.at(first) : same->second);
    });
}

}  // namespace

TEST_CASE("after kill -9 of noisegen at any moment each thread of the job has its own CPUs back")
{
    if (!has_two_cores()) return;
    constexpr int by_day = 5;
    constexpr std::uint64_t longest_us = 80'000;  // two slots
    const int kills = base::environment_number("CROSSTALK_KILLS").value_or(by_day);
    const std::string first = std::to_string(*all.begin());
    const std::string last = std::to_string(*all.rbegin());
    Child victim{job("0", "for cpus in ({" + first + "}, {" + last +
                              "}, None, None):\n"
                              "    bind = lambda cpus: (cpus and os.sched_setaffinity(0, cpus), time.sleep(600))\n"
                              "    threading.Thread(target=bind, args=(cpus,), daemon=True).start()\n"
                              "children.append(subprocess.Popen(['taskset', '-c', '" +
                              last + "', 'sleep', '600']))\n")};
    REQUIRE(is_ready(victim));
    REQUIRE(eventually([&] { return masks_of(victim.pid()).size() >= 3; }));
    const std::string groups = base::read_whole(base::join("/proc/", victim.pid(), "/cgroup"));
    base::Random random{1};
    std::string changed;  // numbers of the kills after which a mask was
    for (int kill = 0; kill < kills; ++kill) {
        const MaskOfThread before = masks_by_thread(victim.pid());
        const Scratch scratch;
        Child noise{taking_cores(scratch, victim.pid(), "job.cores[keep=1] 30ms; quiet 10ms")};
        REQUIRE(eventually([&] { return has_rows(part(scratch) / "noise.csv", 1); }));
        const bool grows = base::draw_below(random, 2) == 0;
        if (grows) victim.signal(SIGUSR1);
        if (base::draw_below(random, 2) == 0)
            ::usleep(static_cast<useconds_t>(base::draw_below(random, longest_us)));
        else  // while threads are being confined
            wait_for_a_slot(victim.pid(), before.at(victim.pid()));
        noise.signal(SIGKILL);
        noise.wait();
        if (!eventually([&] { return are_as_before(masks_by_thread(victim.pid()), before, victim.pid()); }))
            changed += base::join(" ", kill);
    }
    CHECK(changed == "");
    CHECK(base::read_whole(base::join("/proc/", victim.pid(), "/cgroup")) == groups);
    victim.signal(SIGTERM);
    victim.wait();
}

TEST_CASE("a job has its cores back at the end of the slot if noisegen is stopped")
{
    if (!has_two_cores()) return;
    const Scratch scratch;
    Child victim{job()};
    REQUIRE(is_ready(victim));
    Child noise{taking_cores(scratch, victim.pid(), "job.cores[keep=1] 2s; quiet 10min")};
    REQUIRE(eventually([&] { return masks_of(victim.pid()) == Masks{first_cores(1)}; }));
    noise.signal(SIGSTOP);
    CHECK(eventually([&] { return masks_of(victim.pid()) == Masks{all}; }));
    noise.signal(SIGCONT);
}

TEST_CASE("the neighbour gets the freed CPUs and no others")
{
    if (!has_two_cores()) return;
    const Scratch scratch;
    Child victim{job()};
    REQUIRE(is_ready(victim));
    std::vector<std::string> words =
        taking_cores(scratch, victim.pid(), "rotation(job.cores[keep=1|2,neighbour=cpu.spin], placebo; slot=200ms)");
    words.insert(words.end(), {"--seed", "3"});
    Child noise{words};
    CHECK(eventually([&] { return has_worked(part(scratch) / "noise.csv"); }));
    noise.signal(SIGTERM);
    CHECK(noise.wait() == 0);
    const base::CsvTable rows{part(scratch) / "noise.csv"};
    for (std::size_t row = 0; row < rows.rows(); ++row) {
        const std::string& level = rows.text(row, "level");
        const std::size_t keep = level == "keep=1" ? 1 : level == "keep=2" ? 2 : all.size();
        const bool kept = first_cores(keep).contains(rows.get<int>(row, "cpu"));
        CAPTURE(row);
        if (kept) CHECK(rows.get<std::int64_t>(row, "operations") == 0);
    }
}

TEST_CASE("what cannot be confined is refused with a clear line")
{
    const Scratch scratch;
    Child victim{job()};
    REQUIRE(is_ready(victim));
    const std::vector<std::string> it{"--victim", std::to_string(victim.pid())};
    const auto says = [](const Outcome& outcome, int status, const std::string& why) {
        INFO(outcome.err);
        CHECK(outcome.status == status);
        CHECK(outcome.err.find(why) != std::string::npos);
    };
    says(refusal(scratch, "job.cores[keep=0] 1s", it), 2, "is not a number of cores");
    says(refusal(scratch, "job.cores[keep=1,neighbour=control.pause] 1s", it), 2,
         "is not a stressor that runs on noise CPUs");
    says(refusal(scratch, "job.cores[keep=1,neighbour=memory.strem] 1s", it), 2, "did you mean memory.stream");
    says(refusal(scratch, "job.cores[keep=1,neighbour=/no/such/program] 1s", it), 2, "is not an executable program");
    says(refusal(scratch, "job.cores[keep=4000] 1s", it), 2,
         base::join("process ", victim.pid(), " of the job may use"));
    says(refusal(scratch, "job.cores[keep=1] 1s", {"--victim", std::to_string(::getpid())}), 1, "is not confined");
    says(refusal(scratch, "job.cores[keep=1] 1s", {}), 1, "no process of the job is in the control file");
    CHECK(masks_of(victim.pid()) == Masks{all});
    if (::geteuid() != 0) return;
    Child other{{"setpriv", "--reuid=65534", "--clear-groups", "sleep", "60"}};
    REQUIRE(eventually([&] {
        const auto found = base::processes({other.pid()});
        return !found.empty() && found.at(other.pid()).owner == 65534;
    }));
    says(refusal(scratch, "job.cores[keep=1] 1s", {"--victim", std::to_string(other.pid())}), 1,
         "belongs to another user");
}
