// SPDX-License-Identifier: Apache-2.0
// Precision of noisegen's timing and intensity, measured with the real program: how exactly it holds an intensity, when
// its bursts begin, how fast it stops, and its cost while it only waits. Run it on a quiet machine.
#include "base/cli/options.hpp"
#include "base/contract/run_directory.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/figures.hpp"
#include "base/system/clock.hpp"
#include "base/system/cpus.hpp"
#include "noisegen/stressors/pages.hpp"
#include "testing/child.hpp"
#include "testing/noise_runs.hpp"
#include "testing/paired.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <thread>

using namespace testing;
using testing::Child;
using testing::Scratch;

namespace {

namespace fs = std::filesystem;

constexpr double ms = 1e-6;  // converts ns to ms

void tell(const std::string& measure, const std::string& value, const std::string& goal, bool holds)
{
    std::cout << "| " << measure << " | " << value << " | " << goal << " | " << (holds ? "yes" : "no") << " |\n"
              << std::flush;
}

std::string number(double value, int digits = 2)
{
    return base::fixed(value, digits);
}

double quantile(std::vector<double> values, double share)
{
    if (values.empty()) base::fail("nothing was measured");
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

std::vector<std::string> command(const fs::path& out, const std::string& schedule, const std::string& duration)
{
    return {program, "--schedule", schedule, "--cpus", cpu(), "--duration", duration, "--out", out};
}

fs::path part_of(const fs::path& out)
{
    for (const auto& entry : fs::directory_iterator{out / base::part::noise})
        if (entry.is_directory()) return entry.path();
    base::fail("no records in ", out.string());
}

// A stressor with its options, and the unit of its rate.
struct Case {
    std::string family;
    std::string stressor;  // "memory.stream[shape=update"
    std::string column;    // column of samples.csv
    double mean_goal;      // target for the error of the mean, in percent
};

const std::vector<Case> cases{{"memory", "memory.stream[shape=update", "bytes", 0.3},
                              // A small block, so that a window of 100 ms at the lowest rate holds about a hundred of
                              // them.
                              {"disk", "io.write[size=128MiB,block=64KiB,depth=64", "bytes", 0.1},
                              {"network", "network.stream[bytes=256KiB", "bytes", 0.1}};

struct Held {
    double mean_error_percent;
    double low_percent;  // 5th and 95th percentile of the windows, as deviation from the target
    double high_percent;
};

// Deviations over windows of about 100 ms of one run, without the first and the last window.
Held held(const fs::path& out, const std::string& column, double seconds_at_least = 0.09)
{
    const base::CsvTable slots{part_of(out) / base::file::noise_rows};
    const base::CsvTable levels{part_of(out) / "samples.csv"};
    const double target = slots.get<double>(0, "requested");
    double amount = 0.0;
    double time = 0.0;
    for (std::size_t row = 0; row < slots.rows(); ++row) {
        amount += slots.get<double>(row, column);
        time += (slots.get<double>(row, "end_ns") - slots.get<double>(row, "begin_ns")) * 1e-9;
    }
    std::vector<double> windows;
    for (std::size_t row = 1; row + 1 < levels.rows(); ++row) {
        const double seconds = (levels.get<double>(row, "end_ns") - levels.get<double>(row, "begin_ns")) * 1e-9;
        if (seconds >= seconds_at_least)
            windows.push_back((levels.get<double>(row, column) / seconds / target - 1.0) * 100.0);
    }
    return {(amount / time / target - 1.0) * 100.0, quantile(windows, 0.05), quantile(windows, 0.95)};
}

// Time in which the host of this virtual machine ran something else on its CPUs, summed over CPUs.
double stolen_s()
{
    std::ifstream stat{"/proc/stat"};
    std::string cpu;
    double user = 0.0, nice = 0.0, system = 0.0, idle = 0.0, iowait = 0.0, irq = 0.0, softirq = 0.0, steal = 0.0;
    stat >> cpu >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal;
    return steal / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

void intensity(const Scratch& scratch)
{
    const std::string limits = scratch / "limits.json";
    std::vector<std::string> words{program, "calibrate"};
    for (const Case& one : cases) words.push_back(one.stressor + "]");
    // Calibration rounds are as long as the windows that are judged: a rate that the machine does not reach in every
    // tenth of a second cannot be held in every window.
    words.insert(words.end(), {"--cpus", cpu(), "--limits", limits, "--rounds", "100", "--round", "100ms"});
    const auto calibrated = testing::run(words);
    if (calibrated.status != 0) base::fail("cannot calibrate: ", calibrated.err);
    std::cout << testing::run({program, "limits", "--limits", limits}).out;
    int run = 0;
    for (const Case& one : cases)
        for (const std::string percent : {"5%", "20%", "40%", "80%"}) {
            const fs::path out = scratch / ("intensity" + std::to_string(run++));
            auto line = command(out, one.stressor + ",rate=" + percent + "] 10s", "10s");
            line.insert(line.end(), {"--limits", limits});
            const double stolen_before = stolen_s();
            testing::run(line);
            const double stolen = (stolen_s() - stolen_before) / 10.0 * 100.0;
            const Held found = held(out, one.column);
            tell(one.family + ", " + percent + " of the limit, 10 s: mean error",
                 number(found.mean_error_percent, 3) + " %", "+-" + number(one.mean_goal, 1) + " %",
                 std::abs(found.mean_error_percent) <= one.mean_goal);
            tell(one.family + ", " + percent + ": error in windows of 100 ms, 5th to 95th percentile",
                 number(found.low_percent) + " to " + number(found.high_percent) + " % (the host took " +
                     number(stolen, 1) + " % of a CPU)",
                 "+-2 %", found.low_percent >= -2.0 && found.high_percent <= 2.0);
        }
    for (const std::string percent : {"5%", "30%", "80%"}) {
        const fs::path out = scratch / ("duty" + std::to_string(run++));
        testing::run(command(out, "cpu.spin[duty=" + percent + ",period=20ms] 10s", "10s"));
        const base::CsvTable slots{part_of(out) / base::file::noise_rows};
        const double error = (slots.get<double>(0, "duty") - slots.get<double>(0, "requested_duty")) * 100.0;
        tell("CPU duty " + percent + ", 10 s: mean error", number(error, 3) + " points", "+-0.5 points",
             std::abs(error) <= 0.5);
    }
}

void after_a_stall(const Scratch& scratch)
{
    for (const Case& one : cases) {
        const fs::path out = scratch / ("stall." + one.family);
        Child child{command(out, one.stressor + ",rate=200MiB/s] 10s", "6s")};
        std::this_thread::sleep_for(std::chrono::seconds{2});
        child.signal(SIGSTOP);
        std::this_thread::sleep_for(std::chrono::seconds{1});
        child.signal(SIGCONT);
        child.wait();
        const base::CsvTable levels{part_of(out) / "samples.csv"};
        double most = 0.0;
        for (std::size_t row = 0; row < levels.rows(); ++row) {
            const double seconds = (levels.get<double>(row, "end_ns") - levels.get<double>(row, "begin_ns")) * 1e-9;
            if (seconds > 0.05)
                most = std::max(most, levels.get<double>(row, one.column) / seconds / (200.0 * (1 << 20)));
        }
        tell(one.family + ": largest window of 100 ms after SIGSTOP for 1 s", number(most, 3) + " x target", "1.05 x",
             most <= 1.05);
    }
}

// Runs a slot every 20 ms for a minute: lateness of each start, and whether it grows.
void lateness(const Scratch& scratch)
{
    const fs::path out = scratch / "lateness";
    testing::run(command(out, "cpu.spin 5ms; quiet 15ms", "60s"));
    const base::CsvTable csv{part_of(out) / base::file::noise_rows};
    const auto json = nlohmann::json::parse(base::read_whole(part_of(out) / base::file::noise_record));
    const double start = json.at("begin_ns").get<double>();
    std::vector<double> late;
    for (std::size_t row = 0; row + 1 < csv.rows(); row += 2)
        late.push_back(csv.get<double>(row, "begin_ns") - start - static_cast<double>(row / 2) * 20e6);
    const auto first = late.begin();
    const auto tenth = static_cast<std::ptrdiff_t>(late.size() / 10);
    const double drift = quantile({late.end() - tenth, late.end()}, 0.5) - quantile({first, first + tenth}, 0.5);
    const double median = quantile(late, 0.5) * 1e-3;
    const double p99 = quantile(late, 0.99) * 1e-3;
    tell("burst start lateness, median of " + std::to_string(late.size()), number(median, 1) + " us", "60 us",
         median <= 60.0);
    tell("burst start lateness, 99th percentile", number(p99, 1) + " us", "500 us", p99 <= 500.0);
    tell("drift in a minute", number(drift * ms, 4) + " ms", "0.1 ms", std::abs(drift * ms) <= 0.1);
}

// Time in ns from `from_ns` until the process is gone.
double gone_after(Child& child, std::int64_t from_ns)
{
    child.wait();
    return static_cast<double>(base::now_ns() - from_ns);
}

void stopping(const Scratch& scratch)
{
    const std::vector<std::pair<std::string, std::string>> loads{{"4 GiB touched", "capacity.hog[bytes=4GiB]"},
                                                                 {"I/O in flight", "io.write[depth=32,block=1MiB]"},
                                                                 {"MiB messages", "network.stream"},
                                                                 {"8000 files", "metadata.create"}};
    int run = 0;
    for (const auto& [what, stressor] : loads) {
        std::vector<double> over;
        std::vector<double> gone;
        for (int repeat = 0; repeat < 5; ++repeat) {
            const fs::path out = scratch / ("stop" + std::to_string(run++));
            Child child{command(out, stressor + " 1h", "1h")};
            std::this_thread::sleep_for(std::chrono::seconds{4});
            const std::int64_t reported = base::now_ns();
            child.signal(SIGTERM);
            gone.push_back(gone_after(child, reported) * ms);
            const base::CsvTable csv{part_of(out) / base::file::noise_rows};
            over.push_back((csv.get<double>(csv.rows() - 1, "end_ns") - static_cast<double>(reported)) * ms);
        }
        tell("SIGTERM, " + what + ": stress over, worst of 5", number(quantile(over, 1.0), 1) + " ms", "100 ms",
             quantile(over, 1.0) <= 100.0);
        tell("SIGTERM, " + what + ": process gone, worst of 5", number(quantile(gone, 1.0), 1) + " ms", "500 ms",
             quantile(gone, 1.0) <= 500.0);
    }
}

// Number of noisegen processes on this machine, including guardians.
std::size_t processes()
{
    std::size_t found = 0;
    for (const auto& entry : fs::directory_iterator{"/proc"}) {
        std::error_code gone;
        if (fs::read_symlink(entry.path() / "exe", gone) == fs::path{program}) ++found;
    }
    return found;
}

// Time from a SIGKILL at `killed_ns` until no process and no file of noisegen is left, in ms; at most 10 s.
double clean_after(const fs::path& directory, std::int64_t killed_ns)
{
    while ((processes() > 0 || !fs::is_empty(directory)) && base::now_ns() - killed_ns < 10'000'000'000)
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
    return static_cast<double>(base::now_ns() - killed_ns) * ms;
}

// Time from the kill to the end of the last recorded slot or level, in ms, over all processes of the run.
double over_after(const fs::path& out, std::int64_t killed_ns)
{
    double last = 0.0;
    for (const auto& entry : fs::directory_iterator{out / base::part::noise}) {
        if (!entry.is_directory()) continue;
        const base::CsvTable csv{entry.path() / "samples.csv"};
        for (std::size_t row = 0; row < csv.rows(); ++row) last = std::max(last, csv.get<double>(row, "end_ns"));
    }
    return (last - static_cast<double>(killed_ns)) * ms;
}

void killing(const Scratch& scratch)
{
    const fs::path directory = scratch / "files";
    fs::create_directory(directory);
    const std::string load = "metadata.create[directory=" + directory.string() + "] 1h";
    const auto kill_it = [&](const std::string& what, const std::string& name, std::vector<std::string> line) {
        Child child{line};
        std::this_thread::sleep_for(std::chrono::seconds{3});
        const std::int64_t killed = base::now_ns();
        child.signal(SIGKILL);
        child.wait();
        const double clean = clean_after(directory, killed);
        const double over = over_after(scratch / name, killed);
        tell("SIGKILL of " + what + ": stress over", number(std::max(over, 0.0), 1) + " ms", "300 ms", over <= 300.0);
        tell("SIGKILL of " + what + ": no process and no file of ours", number(clean, 1) + " ms", "5000 ms",
             clean <= 5000.0);
    };
    kill_it("noisegen", "kill.leader", command(scratch / "kill.leader", load, "1h"));
    std::string words;
    for (const std::string& word : command(scratch / "kill.launcher", load, "1h")) words += "'" + word + "' ";
    kill_it("its launcher", "kill.launcher", {"sh", "-c", words + "; true"});
    if (testing::run({"sh", "-c", "command -v mpirun"}).status != 0)
        return tell("SIGKILL of mpirun", "not shown: no mpirun", "300 ms", false);
    auto line = command(scratch / "kill.mpirun", load, "1h");
    line.push_back("--share");
    line.insert(line.begin(), {"mpirun", "-n", "2", "--oversubscribe", "--bind-to", "none"});
    kill_it("mpirun", "kill.mpirun", line);
}

// CPU time and context switches of all threads of a process.
struct Cost {
    double cpu_s = 0.0;
    double switches = 0.0;
};

Cost cost_of(pid_t pid)
{
    Cost cost;
    for (const auto& task : fs::directory_iterator{"/proc/" + std::to_string(pid) + "/task"}) {
        std::ifstream status{task.path() / "status"};
        for (std::string line; std::getline(status, line);)
            if (line.starts_with("voluntary_ctxt_switches:")) cost.switches += std::stod(line.substr(24));
        double ran_ns = 0.0;
        std::ifstream{task.path() / "schedstat"} >> ran_ns;
        cost.cpu_s += ran_ns * 1e-9;
    }
    return cost;
}

// GB/s of a victim that reads its core's cache for some milliseconds on the CPU where noisegen waits.
double victim(const noisegen::Pages& pages)
{
    const auto* items = static_cast<const double*>(pages.data());
    const std::size_t count = pages.size() / sizeof(double);
    const std::int64_t begin = base::now_ns();
    double sum = 0.0;
    std::size_t passes = 0;
    for (; base::now_ns() - begin < 20'000'000; ++passes)
        for (std::size_t i = 0; i < count; ++i) sum += items[i];
    asm volatile("" : : "m"(sum));
    return static_cast<double>(passes * pages.size()) / static_cast<double>(base::now_ns() - begin);
}

void waiting(const Scratch& scratch)
{
    constexpr double watched_s = 20.0;
    Child child{command(scratch / "waiting", "placebo 1h; memory.stream 1h", "2h")};
    std::this_thread::sleep_for(std::chrono::seconds{2});
    const Cost before = cost_of(child.pid());
    std::this_thread::sleep_for(std::chrono::duration<double>{watched_s});
    const Cost after = cost_of(child.pid());
    const double share = (after.cpu_s - before.cpu_s) / watched_s * 100.0;
    const double wakeups = (after.switches - before.switches) / watched_s;
    tell("armed at 0 %: share of a core", number(share, 4) + " %", "0.1 %", share <= 0.1);
    tell("armed at 0 %: wake-ups", number(wakeups, 1) + " /s", "20 /s", wakeups <= 20.0);

    base::bind_this_thread({std::stoi(cpu())});
    noisegen::Pages pages{std::size_t{512} << 10U};
    std::fill_n(static_cast<double*>(pages.data()), pages.size() / sizeof(double), 1.0);
    const auto once_told = [&](int signal) {
        return [&, signal] {
            child.signal(signal);
            return victim(pages);
        };
    };
    // The second row, a comparison of equal things, shows the machine's resolution.
    const auto compared = [&](const std::string& what, int first, int second) {
        const testing::Median ratio = testing::measure_in_pairs(1001, once_told(first), once_told(second)).ratio;
        tell("armed at 0 %: a victim's bandwidth on the same core, " + what, ratio.text(), "1 +- 0.005",
             ratio.low >= 0.995 && ratio.high <= 1.005);
    };
    compared("armed / stopped", SIGCONT, SIGSTOP);
    compared("stopped / stopped", SIGSTOP, SIGSTOP);
    child.signal(SIGCONT);
    child.signal(SIGTERM);
    child.wait();
}

void starting(const Scratch& scratch)
{
    int run = 0;
    for (const std::string stressor : {"cpu.spin", "memory.stream", "network.stream", "io.write"}) {
        std::vector<double> taken;
        for (int repeat = 0; repeat < 11; ++repeat) {
            const fs::path out = scratch / ("start" + std::to_string(run++));
            const std::int64_t begin = base::now_ns();
            testing::run(command(out, stressor + " 20ms", "20ms"));
            const base::CsvTable csv{part_of(out) / base::file::noise_rows};
            taken.push_back((csv.get<double>(0, "begin_ns") - static_cast<double>(begin)) * ms);
        }
        const double median = quantile(taken, 0.5);
        tell("exec to first noise, " + stressor + ", median of 11", number(median, 1) + " ms", "20 ms", median <= 20.0);
    }
}

}  // namespace

int main(int argc, char** argv)
try {
    std::vector<std::pair<std::string, void (*)(const Scratch&)>> parts{
        {"starting", starting}, {"waiting", waiting},      {"lateness", lateness},  {"stopping", stopping},
        {"killing", killing},   {"stalls", after_a_stall}, {"intensity", intensity}};
    base::Options options{"promises-bench",
                          "whether noisegen keeps its promises on timing and rates, with the real program"};
    options.add_parts("part", parts);
    if (!options.parse(argc, argv)) return 0;
    const Scratch scratch;
    std::cout << "| measure | found | at least | holds |\n|---|---|---|---|\n";
    for (const auto& [name, measure] : parts) measure(scratch);
} catch (...) {
    return base::report_failure("promises-bench");
}
