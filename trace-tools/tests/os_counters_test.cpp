// SPDX-License-Identifier: Apache-2.0
// Counters of /proc, read from file trees as kernels present them.
#include "testing/testing.hpp"
#include "trace-tools/os/counters.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace {

using OsRow = base::os::Row;

void put(const std::filesystem::path& path, const std::string& text)
{
    std::filesystem::create_directories(path.parent_path());
    std::ofstream{path} << text;
}

// Process 7 with thread 8, on CPU 1.
const os::Job job{.processes = {7}, .threads = {{8, {.process = 7, .name = "main"}}}, .cpus = {1}};

const OsRow* find(const std::vector<OsRow>& rows, const std::string& source, const std::string& cause)
{
    const auto found = std::find_if(rows.begin(), rows.end(),
                                    [&](const OsRow& row) { return row.source == source && row.cause == cause; });
    return found == rows.end() ? nullptr : &*found;
}

// Returns a line of /proc/PID/stat: fields 4 to 52 are 0 except major faults (12) and block I/O delay (42, in ticks).
std::string stat_line(int major_faults, int delay_ticks)
{
    std::string line = "8 (a (name) R";
    for (int field = 4; field <= 52; ++field)
        line += " " + std::to_string(field == 12 ? major_faults : field == 42 ? delay_ticks : 0);
    return line + "\n";
}

void put_counters(const testing::Scratch& root, std::int64_t add)
{
    const std::filesystem::path task = root / "proc/7/task/8";
    put(task / "schedstat", "1000 " + std::to_string(500 + 7 * add) + " " + std::to_string(3 + add) + "\n");
    put(task / "status", "Name:\tmain\nnonvoluntary_ctxt_switches:\t" + std::to_string(20 + add) + "\n");
    put(task / "stat", stat_line(4 + static_cast<int>(add), 0));
    put(root / "proc/stat", "cpu  0 0 0 0 0 0 0 0\ncpu0 9 9 9 9 9 9 9 9\ncpu1 1 1 1 1 1 " + std::to_string(2 + add) +
                                " 3 " + std::to_string(4 + 2 * add) + "\nintr 1\n");
    put(root / "proc/interrupts", "           CPU0       CPU1\n 36:  5  " + std::to_string(100 + add) +
                                      " PCI-MSI 1-edge disk-req.0\nLOC: 1 2 Local timer interrupts\nERR: 0\n");
    put(root / "proc/7/cgroup", "0::/job\n");
    put(root / "sys/fs/cgroup/job/cpu.stat",
        "usage_usec 1\nnr_throttled " + std::to_string(add) + "\nthrottled_usec " + std::to_string(11 * add) + "\n");
    put(root / "sys/fs/cgroup/job/cpu.pressure",
        "some avg10=0.00 avg60=0.00 avg300=0.00 total=" + std::to_string(6 + add) + "\n");
}

}  // namespace

TEST_CASE("counters of threads, CPUs, interrupts and control groups grow by what was added between two readings")
{
    const testing::Scratch root;
    put_counters(root, 0);
    os::Counters counters{root.path()};
    CHECK(counters.read(job, 1000).empty());
    put_counters(root, 5);
    const std::vector<OsRow> rows = counters.read(job, 2000);
    const std::int64_t tick_ns = 10'000'000;

    const OsRow* waited = find(rows, "schedstat", base::os::cause::runqueue_wait);
    REQUIRE(waited != nullptr);
    CHECK(waited->ns == 35);
    CHECK(waited->count == 5);
    CHECK(waited->thread == 8);
    CHECK(waited->begin_ns == 1000);
    CHECK(waited->end_ns == 2000);
    CHECK(find(rows, "stat", base::os::cause::major_faults)->count == 5);
    CHECK(find(rows, "status", base::os::cause::preempted)->count == 5);
    CHECK(find(rows, "proc_stat", base::os::cause::interrupt)->ns == 5 * tick_ns);
    CHECK(find(rows, "proc_stat", base::os::cause::steal)->ns == 10 * tick_ns);
    CHECK(find(rows, "proc_stat", base::os::cause::softirq) == nullptr);  // did not grow
    const OsRow* interrupts = find(rows, "interrupts", base::os::cause::interrupt);
    REQUIRE(interrupts != nullptr);
    CHECK(interrupts->by == "36 disk-req.0");
    CHECK(interrupts->count == 5);
    CHECK(interrupts->cpu == 1);
    CHECK(find(rows, "cpu_stat", base::os::cause::throttled)->ns == 55'000);
    const OsRow* pressure = find(rows, "psi", base::os::cause::pressure);
    REQUIRE(pressure != nullptr);
    CHECK(pressure->by == "cpu some");
    CHECK(pressure->ns == 5'000);
    CHECK(std::none_of(rows.begin(), rows.end(), [](const OsRow& row) { return row.cpu == 0; }));
}

TEST_CASE("the first thread of a process has the part of its CPU's steal and interrupts that it has of its busy time")
{
    const testing::Scratch root;
    const os::Job one{.processes = {7}, .threads = {{7, {.process = 7, .name = "main"}}}, .cpus = {0, 1}};
    // In 100 ms, CPU 1 idles for 20 ms and the thread runs on it for 40 ms: half of 80 ms.
    const auto put_at = [&](int ran_ms, const std::string& cpu_1) {
        std::string stat = "7 (main) R";
        for (int field = 4; field <= 52; ++field) stat += field == 39 ? " 1" : " 0";
        put(root / "proc/7/task/7/stat", stat + "\n");
        put(root / "proc/7/task/7/schedstat", std::to_string(ran_ms) + "000000 0 1\n");
        put(root / "proc/stat", "cpu0 0 0 0 0 0 9 9 9\ncpu1 " + cpu_1 + "\n");
    };
    put_at(10, "5 0 0 3 1 1 1 1");
    os::Counters counters{root.path()};
    CHECK(counters.read(one, 1'000'000).empty());
    put_at(50, "5 0 0 4 2 3 1 5");
    std::vector<OsRow> rows = counters.read(one, 101'000'000);
    std::erase_if(rows, [](const OsRow& row) { return row.source != "stat"; });
    REQUIRE(rows.size() == 2);
    CHECK(find(rows, "stat", base::os::cause::interrupt)->ns == 10'000'000);
    CHECK(find(rows, "stat", base::os::cause::steal)->ns == 20'000'000);
    CHECK(rows.front().thread == 7);
    CHECK(rows.front().cpu == 1);
}

TEST_CASE("soft interrupts by name, clock rates, bandwidth and cache occupancy are read where the kernel shows them")
{
    const testing::Scratch root;
    const auto put_at = [&](int softirqs, int bytes) {
        put(root / "proc/softirqs",
            "          CPU0  CPU1\n  NET_RX:  9  " + std::to_string(softirqs) + "\n   TIMER:  3  3\n");
        put(root / "sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "2100000\n");
        put(root / "sys/fs/resctrl/mon_data/mon_L3_00/mbm_total_bytes", std::to_string(bytes) + "\n");
        put(root / "sys/fs/resctrl/mon_data/mon_L3_00/llc_occupancy", "4096\n");
    };
    put_at(1, 100);
    os::Counters counters{root.path()};
    CHECK(counters.read(job, 1000).empty());
    put_at(8, 350);
    const std::vector<OsRow> rows = counters.read(job, 2000);
    REQUIRE(rows.size() == 4);
    const OsRow* softirqs = find(rows, "softirqs", base::os::cause::softirq);
    REQUIRE(softirqs != nullptr);
    CHECK(softirqs->by == "NET_RX");
    CHECK(softirqs->count == 7);
    CHECK(softirqs->cpu == 1);
    CHECK(find(rows, "cpufreq", base::os::cause::frequency)->count == 2'100'000);
    CHECK(find(rows, "resctrl", base::os::cause::bandwidth)->count == 250);
    CHECK(find(rows, "resctrl", base::os::cause::bandwidth)->by == "mon_L3_00");
    CHECK(find(rows, "resctrl", base::os::cause::llc_occupancy)->count == 4096);
}

TEST_CASE("throttled time of a group and of its parents is added up, whichever of them counts it")
{
    const testing::Scratch root;
    const auto put_at = [&](int pod, int container) {
        put(root / "proc/7/cgroup", "0::/pod/container/leaf\n");
        const auto text = [](int us) {
            return "usage_usec 1\nnr_throttled 1\nthrottled_usec " + std::to_string(us) + "\n";
        };
        put(root / "sys/fs/cgroup/cpu.stat", "usage_usec 1\n");
        put(root / "sys/fs/cgroup/pod/cpu.stat", text(pod));
        put(root / "sys/fs/cgroup/pod/container/cpu.stat", text(container));
        put(root / "sys/fs/cgroup/pod/container/leaf/cpu.stat", "usage_usec 1\n");  // without the cpu controller
    };
    put_at(10, 1);
    os::Counters counters{root.path()};
    CHECK(counters.read(job, 1).empty());
    put_at(15, 3);
    const std::vector<OsRow> rows = counters.read(job, 2);
    REQUIRE(rows.size() == 1);
    CHECK(find(rows, "cpu_stat", base::os::cause::throttled)->ns == 7'000);
}

TEST_CASE("throttled time of version 1, and pressure of version 2 mounted beside it")
{
    const testing::Scratch root;
    const auto put_at = [&](const std::string& time, const std::string& total) {
        put(root / "proc/7/cgroup", "1:cpu,cpuacct:/job\n0::/\n");
        put(root / "sys/fs/cgroup/cpu/job/cpu.stat", "nr_periods 9\nnr_throttled 2\nthrottled_time " + time + "\n");
        put(root / "sys/fs/cgroup/unified/io.pressure", "full avg10=0 avg60=0 avg300=0 total=" + total + "\n");
    };
    put_at("100", "1");
    os::Counters counters{root.path()};
    CHECK(counters.read(job, 1).empty());
    put_at("140", "3");
    const std::vector<OsRow> rows = counters.read(job, 2);
    REQUIRE(rows.size() == 2);
    CHECK(find(rows, "cpu_stat", base::os::cause::throttled)->ns == 40);
    CHECK(find(rows, "psi", base::os::cause::pressure)->ns == 2'000);
}

TEST_CASE("of a job with many threads the first of each process are counted, and others up to a limit")
{
    os::Job many;
    for (const pid_t process : {1000, 2000})
        for (pid_t thread = process; thread < process + 150; ++thread) many.threads[thread].process = process;
    const std::map<pid_t, os::Thread> counted = os::counted_threads(many);
    CHECK(counted.size() == 200);
    CHECK(counted.contains(1000));
    CHECK(counted.contains(1149));
    CHECK(counted.contains(2000));
    many.threads.erase(many.threads.find(1050), many.threads.end());
    CHECK(os::counted_threads(many).size() == 50);
}

TEST_CASE("a source that the machine lacks is named with what brings it")
{
    const testing::Scratch root;
    put_counters(root, 0);
    const std::vector<os::Source> sources = os::Counters{root.path()}.sources(job);
    const auto lacks = [&](const std::string& name) {
        return std::find_if(sources.begin(), sources.end(), [&](const os::Source& s) { return s.name == name; })->lacks;
    };
    CHECK(lacks("schedstat").empty());
    CHECK(lacks("cpu_stat").empty());
    CHECK(lacks("psi").empty());
    CHECK(lacks("block_io").find("task_delayacct=1") != std::string::npos);
    CHECK(lacks("softirqs") == "there is no /proc/softirqs");
    CHECK(lacks("resctrl").find("mount -t resctrl") != std::string::npos);
}
