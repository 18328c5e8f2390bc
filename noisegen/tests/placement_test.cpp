// Which CPUs make noise, and which of them runs what.
#include "noisegen/resources/placement.hpp"

#include "base/contract/control_file.hpp"
#include "base/error.hpp"
#include "base/system/launcher.hpp"
#include "noisegen/schedule/parser.hpp"
#include "noisegen/stressors/pages.hpp"
#include "testing/child.hpp"
#include "testing/environment.hpp"
#include "testing/noise_runs.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <sstream>
#include <thread>

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

using noisegen::candidates;
using noisegen::CpuRequest;
using noisegen::divide;
using noisegen::Machine;
using noisegen::parse_schedule;

namespace {

using testing::program;

// Siblings are numbered far apart, as on most servers.
const std::vector<base::Core> three_cores{{.cpus = {2, 66}}, {.cpus = {3, 67}}, {.cpus = {4, 68}}};

// Two sockets of two NUMA nodes each, four cores a node, CPUs 2k and 2k+1 on core k.
Machine two_sockets(const std::string& avoided, const std::string& allowed = "0-31")
{
    static const std::vector<base::Core> cores = [] {
        const testing::Environment synthetic{{{"HWLOC_SYNTHETIC", "pack:2 numa:2 core:4 pu:2"}}};
        return base::physical_cores(base::parse_cpus("0-31"));
    }();
    return {.cores = cores,
            .allowed = base::parse_cpus(allowed),
            .avoided = avoided.empty() ? base::CpuSet{} : base::parse_cpus(avoided),
            .users = {}};
}

std::string chosen(const CpuRequest& cpu_request, const std::string& avoided, const std::string& allowed = "0-31")
{
    return base::format_cpus(candidates(cpu_request, two_sockets(avoided, allowed)));
}

std::string reported(const CpuRequest& cpu_request, const std::string& avoided)
{
    try {
        return "accepted " + chosen(cpu_request, avoided);
    } catch (const base::UsageError& error) {
        return error.what();
    }
}

}  // namespace

TEST_CASE("idle are the cores of which no part is in use")
{
    CHECK(chosen({}, "0,5") == "2-3,6-31");
    CHECK(chosen({}, "0", "0-8,16") == "2-7");
    CHECK(chosen({}, "0-29") == "30-31");
    CHECK(reported({}, "0,2,4-31").find("no whole core is idle; allowed are CPUs 0-31, busy are 0,2,4-31") !=
          std::string::npos);
}

TEST_CASE("where nothing is known to be busy the first core stays free")
{
    CHECK(chosen({}, "") == "2-31");
    CHECK(chosen({}, "", "5-9") == "6-9");
    CHECK(chosen({}, "", "4-5") == "4-5");
    CHECK(chosen({.numa = "1"}, "") == "10-15");  // its CPUs are 8-15
}

TEST_CASE("with SMT noise takes the siblings too")
{
    CHECK(chosen({.smt = "yes"}, "0,5") == "1-4,6-31");
    CHECK(chosen({.smt = "yes"}, "0,2,4-31") == "1,3");
    CHECK(chosen({.smt = "yes"}, "0", "0-1,7") == "1,7");
    CHECK(reported({.smt = "yes"}, "0-31").find("no CPU is idle") != std::string::npos);
}

TEST_CASE("only the CPUs of the NUMA nodes asked for")
{
    CHECK(chosen({.numa = "0"}, "0-3") == "4-7");
    CHECK(chosen({.numa = "1,3"}, "0-3") == "8-15,24-31");
    CHECK(chosen({.cpus = "6-9", .numa = "1"}, "0-3") == "8-9");
    CHECK(chosen({.cpus = "0-9", .numa = "1"}, "0-3") == "8-9");
    CHECK(reported({.numa = "4"}, "0-3").find("no CPU is of NUMA node 4; there are 0-3") != std::string::npos);
    CHECK(reported({.numa = "x"}, "0-3").find("--numa: 'x' is not a list of NUMA nodes") != std::string::npos);
    CHECK(reported({.numa = "0"}, "0-7").find("no whole core is idle on NUMA node 0") != std::string::npos);
    CHECK(reported({.cpus = "4", .numa = "2"}, "").find("no CPU is left on NUMA node 2") != std::string::npos);
}

TEST_CASE("the training's socket, or another one")
{
    CHECK(chosen({.socket = "same"}, "0-3") == "4-15");
    CHECK(chosen({.socket = "other"}, "0-3") == "16-31");
    CHECK(chosen({.socket = "same"}, "0,16") == "2-15,18-31");
    CHECK(chosen({.numa = "1", .socket = "same"}, "0-3") == "8-15");
    CHECK(reported({.numa = "2", .socket = "same"}, "0-3").find("on NUMA node 2 on the same socket") !=
          std::string::npos);
    CHECK(reported({.socket = "other"}, "0,16").find("on the other socket") != std::string::npos);
    CHECK(reported({.cpus = "4", .socket = "same"}, "").find("--socket same: than which?") != std::string::npos);
}

TEST_CASE("a list is taken as it is but for what must be avoided")
{
    CHECK(chosen({.cpus = "4,6"}, "0-3") == "4,6");
    CHECK(chosen({.cpus = "4"}, "") == "4");
    CHECK(reported({.cpus = "3-4"}, "0-3").find("CPU 3 is to be avoided") != std::string::npos);
    CHECK(chosen({.cpus = "3-4", .share = true}, "0-3") == "3-4");
    CHECK(reported({.cpus = "1"}, "0").find("CPU 1 is on one core with CPU 0") != std::string::npos);
    CHECK(chosen({.cpus = "1", .smt = "yes"}, "0") == "1");
    CHECK(chosen({.cpus = "1", .share = true}, "0") == "1");
    Machine used = two_sockets("0-3");
    used.users = {{2, "python (4711)"}};
    CHECK_THROWS_WITH_AS(candidates({.cpus = "2-5"}, used), doctest::Contains("CPU 2 is used by python (4711)"),
                         base::UsageError);
}

TEST_CASE("a count is spread over the NUMA nodes and never more than there is")
{
    const std::vector<base::Core> cores = two_sockets("").cores;
    CHECK(base::format_cpus(base::cpus_of(noisegen::spread(cores, 1))) == "0-1");
    CHECK(base::format_cpus(base::cpus_of(noisegen::spread(cores, 2))) == "0-1,8-9");
    CHECK(base::format_cpus(base::cpus_of(noisegen::spread(cores, 6))) == "0-3,8-11,16-17,24-25");
    CHECK(noisegen::spread(cores, 99).size() == 16);
    CHECK(base::format_cpus(base::cpus_of(noisegen::spread({cores.begin(), cores.begin() + 4}, 3))) == "0-5");
    const testing::Environment alone{{}};
    Machine machine = two_sockets("0-3");
    CHECK(base::format_cpus(noisegen::choose_cpus({.count = "2", .socket = "other"}, machine)) == "16-17,24-25");
    for (const std::string wrong : {"0", "-1", "some", "1.5", ""})
        CHECK_THROWS_WITH_AS(noisegen::choose_cpus({.count = wrong}, machine), doctest::Contains("--count: '"),
                             base::UsageError);
}

TEST_CASE("tasks of a host that Slurm has bound apart keep all of their CPUs")
{
    const std::map<std::string, std::string> second{{"SLURM_LOCALID", "1"},
                                                    {"SLURM_NODEID", "0"},
                                                    {"SLURM_STEP_TASKS_PER_NODE", "2"},
                                                    {"SLURM_CPU_BIND_TYPE", "mask_cpu:"}};
    std::map<std::string, std::string> apart = second;
    apart["SLURM_CPU_BIND_LIST"] = "0x00FF,0xFF00";
    {
        const testing::Environment slurm{apart};
        CHECK(base::format_cpus(noisegen::choose_cpus({}, two_sockets("0-3", "8-15"))) == "8-15");
    }
    std::map<std::string, std::string> together = second;
    together["SLURM_CPU_BIND_LIST"] = "0xFFFF,0xFFFF";
    const testing::Environment slurm{together};
    CHECK(base::format_cpus(noisegen::choose_cpus({}, two_sockets("0-3", "8-15"))) == "12-15");
}

TEST_CASE("a noise CPU's place is reported")
{
    const Machine machine = two_sockets("0-2,17");
    const auto texts = [&machine](const base::CpuSet& cpus) {
        std::vector<std::string> all;
        for (const noisegen::CpuPlacement& placement : noisegen::placements(cpus, machine))
            all.push_back(noisegen::text(placement));
        return all;
    };
    CHECK(texts({16, 2, 3, 30}) == std::vector<std::string>{"cpu 2: core 1, socket 0, node 0, shared",
                                                            "cpu 3: core 1, socket 0, node 0, sibling 2 busy",
                                                            "cpu 16: core 8, socket 1, node 2, sibling 17 busy",
                                                            "cpu 30: core 15, socket 1, node 3, idle"});
}

TEST_CASE("memory comes from nodes that are there")
{
    CHECK(noisegen::parse_memory("local").empty());
    const std::set<int> there = base::memory_nodes();
    REQUIRE(!there.empty());
    CHECK(noisegen::parse_memory(base::format_cpus(there)) == there);
    CHECK_THROWS_WITH_AS(noisegen::parse_memory("65000"), doctest::Contains("NUMA node 65000 has no memory"),
                         base::UsageError);
    CHECK_THROWS_WITH_AS(noisegen::parse_memory("near"), doctest::Contains("is not a list of NUMA nodes"),
                         base::UsageError);
}

TEST_CASE("a thread's new memory lies on the node that was asked for")
{
    const int node = *base::memory_nodes().begin();
    long reported = -1;
    int lies = -1;
    int policy = -1;
    int local = -1;
    std::thread{[&] {
        try {
            base::take_memory_from({node});
        } catch (const std::system_error&) {
            return;
        }
        const noisegen::Pages pages{1 << 21U};
        static_cast<char*>(pages.data())[0] = 1;
        void* page = pages.data();
        reported = ::syscall(SYS_move_pages, 0, 1UL, &page, nullptr, &lies, 0);
        ::syscall(SYS_get_mempolicy, &policy, nullptr, 0UL, nullptr, 0UL);
        base::take_memory_from({});
        ::syscall(SYS_get_mempolicy, &local, nullptr, 0UL, nullptr, 0UL);
    }}.join();
    if (reported != 0) {
        testing::skip("the kernel lets this process neither place memory nor ask where it is");
        return;
    }
    CHECK(lies == node);
    CHECK(policy != 0);  // not the default
    CHECK(local == 0);   // the default: near the CPU
}

TEST_CASE("a thread is put into a scheduling class and the others are not")
{
    for (const auto& [name, policy] : std::map<std::string, int>{{"idle", SCHED_IDLE}, {"batch", SCHED_BATCH}}) {
        int found = -1;
        std::thread{[&found, name = name] {
            base::set_scheduling_class(name);
            found = ::sched_getscheduler(0);
        }}.join();
        CHECK(found == policy);
        CHECK(::sched_getscheduler(0) == SCHED_OTHER);
    }
}

TEST_CASE("in a rotation every stressor runs on all noise CPUs")
{
    const auto schedule = parse_schedule("rotation(memory.stream, io.write, placebo, control.delay, control.sham)");
    const auto runs = divide(schedule, three_cores);
    CHECK(runs[0] == std::vector<int>{2, 3, 4, 66, 67, 68});
    CHECK(runs[1] == runs[0]);
    CHECK(runs[3] == std::vector<int>{2});
}

TEST_CASE("in a factorial every stressor has cores of its own")
{
    const auto runs = divide(parse_schedule("factorial(cpu.spin, memory.stream, placebo, io.write)"), three_cores);
    CHECK(runs[0] == std::vector<int>{2, 66});
    CHECK(runs[1] == std::vector<int>{3, 67});
    CHECK(runs[2] == std::vector<int>{2});
    CHECK(runs[3] == std::vector<int>{4, 68});
    const auto two = divide(parse_schedule("factorial(cpu.spin, io.write)"), three_cores);
    CHECK(two[0] == std::vector<int>{2, 66});
    CHECK(two[1] == std::vector<int>{3, 4, 67, 68});
}

TEST_CASE("two factors of one stressor have cores of their own too")
{
    const auto runs = divide(parse_schedule("factorial(a=memory.stream, b=memory.stream)"), three_cores);
    REQUIRE(runs.size() == 2);
    CHECK(runs[0] == std::vector<int>{2, 66});
    CHECK(runs[1] == std::vector<int>{3, 4, 67, 68});
}

TEST_CASE("siblings are one core and not enough for a factorial of two")
{
    const auto schedule = parse_schedule("factorial(memory.stream, io.write)");
    const std::vector<base::Core> one{{.cpus = {2, 66}}};
    CHECK_THROWS_WITH_AS(divide(schedule, one), doctest::Contains("there are 1 (CPUs 2,66); use rotation(...)"),
                         base::UsageError);
}

TEST_CASE("noise processes of one host have cores of their own")
{
    CHECK(noisegen::own_part(three_cores, {0, 3}, false) == base::CpuSet{2, 66});
    CHECK(noisegen::own_part(three_cores, {2, 3}, false) == base::CpuSet{4, 68});
    CHECK(noisegen::own_part(three_cores, {1, 2}, false) == base::CpuSet{3, 4, 67, 68});
    CHECK_THROWS_WITH_AS(noisegen::own_part(three_cores, {0, 4}, false), doctest::Contains("--share"),
                         base::UsageError);
    CHECK(noisegen::own_part(three_cores, {0, 4}, true) == base::CpuSet{2});
    CHECK(noisegen::own_part(three_cores, {0, 7}, true) == base::cpus_of(three_cores));
}

TEST_CASE("avoid takes CPU lists and processes")
{
    CHECK(noisegen::parse_avoid({"0"}).cpus == base::CpuSet{0});
    const noisegen::Avoid avoid = noisegen::parse_avoid({"pid:" + std::to_string(::getpid())});
    CHECK(avoid.processes == std::vector<pid_t>{::getpid()});
    CHECK_THROWS_AS(noisegen::parse_avoid({"pid:x"}), base::UsageError);
    CHECK_THROWS_AS(noisegen::parse_avoid({"pid:999999999"}), base::UsageError);
    CHECK_THROWS_AS(noisegen::parse_avoid({"0-99999"}), base::UsageError);
    CHECK_THROWS_AS(noisegen::parse_avoid({"training"}), base::UsageError);
}

TEST_CASE("neighbours are found with their descendants and the CPUs they are bound to")
{
    const std::string cpu = std::to_string(*base::allowed_cpus().rbegin());
    const testing::Child shell{{"sh", "-c", "taskset -c " + cpu + " sleep 60; true"}};
    const noisegen::Avoid avoid{.cpus = {}, .processes = {shell.pid()}};
    const auto sleeper = [&]() -> std::optional<noisegen::AvoidedProcess> {
        for (const noisegen::AvoidedProcess& process : noisegen::avoided_processes(avoid, base::allowed_cpus()))
            if (process.name == "sleep") return process;
        return {};
    };
    REQUIRE(testing::eventually([&] { return sleeper().has_value(); }));
    const noisegen::AvoidedProcess found = *sleeper();
    CHECK(found.cpus == base::parse_cpus(cpu));
    ::kill(found.pid, SIGTERM);
}

TEST_CASE("of the same Slurm job those are neighbours that are bound to less than was allowed")
{
    const testing::Environment slurm{{{"SLURM_JOB_ID", "test-" + std::to_string(::getpid())}}};
    const int cpu = *base::allowed_cpus().rbegin();
    const testing::Child bound{{"taskset", "-c", std::to_string(cpu), "sleep", "60"}};
    const auto found = [&](const base::CpuSet& allowed) {
        const auto all = noisegen::avoided_processes({}, allowed);
        return std::any_of(all.begin(), all.end(), [&](const noisegen::AvoidedProcess& process) {
            return process.pid == bound.pid() && process.name == "sleep";
        });
    };
    // This process may be bound to that CPU itself by now: what counts is what it might have used.
    CHECK(testing::eventually([&] { return found({cpu, cpu + 1}); }));
    CHECK(!found({cpu}));
}

TEST_CASE("a dry run shows where noise would be and refuses what could not run")
{
    const std::string cpu = std::to_string(*base::allowed_cpus().rbegin());
    const testing::Outcome shown = testing::run({program, "--schedule", "C1S1", "--cpus", cpu, "--dry-run"});
    CHECK(shown.status == 0);
    CHECK(shown.err.starts_with("noisegen: cpu " + cpu + ": core "));
    CHECK(shown.err.ends_with(", idle\n"));
    CHECK(shown.out.starts_with("slot,block,position,"));
    const testing::Outcome refused =
        testing::run({program, "--schedule", "memory.stream[bytes=900TiB] 1s", "--dry-run"});
    CHECK(refused.status == 2);
    CHECK(refused.out == "");
    CHECK(refused.err.find("--max-memory") != std::string::npos);
}

TEST_CASE("place, scheduling class and memory are on record and in force")
{
    const testing::Scratch scratch;
    const int cpu = *base::allowed_cpus().rbegin();
    testing::Child child{{program, "--schedule", "quiet 100ms", "--cpus", std::to_string(cpu), "--duration", "10min",
                          "--sched", "idle", "--out", scratch / "run"}};
    const auto path = scratch / "run" / "noise" / (base::host_name() + ".0");
    REQUIRE(testing::eventually([&] { return testing::has_rows(path / "noise.csv", 1); }));
    std::size_t idle = 0;
    const std::filesystem::path tasks = "/proc/" + std::to_string(child.pid()) + "/task";
    for (const auto& entry : std::filesystem::directory_iterator{tasks})
        if (::sched_getscheduler(std::stoi(entry.path().filename())) == SCHED_IDLE) ++idle;
    CHECK(idle == 1);
    child.signal(SIGTERM);
    CHECK(child.wait() == 0);
    const auto record = nlohmann::json::parse(base::read_whole(path / "noise.json"));
    CHECK(record.at("scheduling_class") == "idle");
    CHECK(record.at("memory") == "local");
    REQUIRE(record.at("placement").size() == 1);
    CHECK(record.at("placement").at(0).at("cpu") == cpu);
    CHECK(record.at("placement").at(0).at("avoided") == false);
    for (const char* name : {"core", "socket", "numa_node"}) CHECK(record.at("placement").at(0).at(name) >= 0);
}

TEST_CASE("a process that comes to a noise CPU ends the run if that was asked for")
{
    const base::CpuSet allowed = base::allowed_cpus();
    if (allowed.size() < 2) {
        testing::skip("needs a CPU to come from");
        return;
    }
    const std::string from = std::to_string(*allowed.begin());
    const std::string to = std::to_string(*allowed.rbegin());
    const testing::Child busy{{"taskset", "-c", from, "sleep", "120"}};
    REQUIRE(testing::eventually([&] { return base::affinity_of(busy.pid()).size() == 1; }));
    const testing::Scratch scratch;
    testing::Child child{{program, "--schedule", "quiet 100ms", "--cpus", to, "--smt", "yes", "--duration", "10min",
                          "--avoid", "pid:" + std::to_string(busy.pid()), "--on-overlap", "stop", "--out",
                          scratch / "run"}};
    const auto path = scratch / "run" / "noise" / (base::host_name() + ".0");
    REQUIRE(testing::eventually([&] { return std::filesystem::exists(path / "noise.csv"); }));
    testing::run({"taskset", "-pc", to, std::to_string(busy.pid())});
    CHECK(child.wait() == 3);
    const auto record = nlohmann::json::parse(base::read_whole(path / "noise.json"));
    CHECK(record.at("exit").at("reason") == "overlap");
    CHECK(record.at("overlaps").at(0).at("pid") == busy.pid());
    CHECK(std::filesystem::exists(path / "trace/traces.otf2"));
}

namespace {

// Names the process in the control file as the format says: its number, and its start from /proc/PID/stat above it.
void name_training(base::ControlFile& control, pid_t pid)
{
    const std::string stat = base::read_whole("/proc/" + std::to_string(pid) + "/stat");
    std::istringstream fields{stat.substr(stat.rfind(')') + 2)};
    std::vector<std::string> words{std::istream_iterator<std::string>{fields}, {}};
    const std::uint64_t start = std::stoull(words.at(19));  // the 22nd field
    control.page().processes[0] = static_cast<std::uint64_t>(pid) | (start << 22U);
}

}  // namespace

TEST_CASE("noise keeps off the CPUs of the training in its control file")
{
    const base::CpuSet allowed = base::allowed_cpus();
    if (allowed.size() < 2) {
        testing::skip("needs a CPU beside the training's");
        return;
    }
    const std::string cpu = std::to_string(*allowed.rbegin());
    const testing::Scratch scratch;
    base::ControlFile control = base::ControlFile::open(scratch / "run", base::host_name());
    const testing::Child training{{"taskset", "-c", cpu, "sleep", "60"}};
    REQUIRE(testing::eventually([&] { return base::affinity_of(training.pid()).size() == 1; }));
    name_training(control, training.pid());
    const auto noise = [&](std::vector<std::string> words) {
        for (const char* word : {"--schedule", "quiet 100ms", "--duration", "100ms", "--smt", "yes", "--out"})
            words.emplace_back(word);
        words.push_back(scratch / "run");
        return testing::run_noisegen(words);
    };
    const testing::Outcome refused = noise({"--cpus", cpu});
    CHECK(refused.status == 2);
    CHECK(refused.err == "noisegen: CPU " + cpu + " is used by sleep (" + std::to_string(training.pid()) +
                             "); choose other --cpus, or --share it on purpose\n");
    CHECK(noise({"--cpus", cpu, "--dry-run"}).status == 2);
    CHECK(noise({"--cpus", cpu, "--share", "--dry-run"}).status == 0);
    REQUIRE(noise({}).status == 0);
    const nlohmann::json record = testing::record(testing::part(scratch));
    CHECK(record.at("avoided_cpus") == cpu);
    for (const nlohmann::json& place : record.at("placement")) CHECK(place.at("cpu") != std::stoi(cpu));
}

TEST_CASE("a training that is bound to no CPU is told of")
{
    const testing::Scratch scratch;
    base::ControlFile control = base::ControlFile::open(scratch / "run", base::host_name());
    const testing::Child training{{"sleep", "60"}};
    name_training(control, training.pid());
    const testing::Outcome outcome = testing::run_noisegen(
        {"--schedule", "quiet 100ms", "--duration", "100ms", "--cpus", testing::cpu(), "--out", scratch / "run"});
    CHECK(outcome.status == 0);
    CHECK(outcome.err.find("the training (process " + std::to_string(training.pid()) + ") is bound to no CPU") !=
          std::string::npos);
}
