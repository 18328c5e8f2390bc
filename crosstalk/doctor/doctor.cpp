// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/doctor/doctor.hpp"

#include "base/contract/run_record.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/system/available.hpp"
#include "base/system/cgroups.hpp"
#include "base/system/clock.hpp"
#include "base/system/cpus.hpp"
#include "base/units.hpp"
#include "base/words.hpp"
#include "crosstalk/programs/programs.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

#include <unistd.h>

namespace crosstalk {

namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& file)
{
    std::ifstream in{file};
    std::string line;
    std::getline(in, line);
    return line;
}

std::string gigabytes(base::Bytes size)
{
    return base::join(static_cast<double>(std::llround(static_cast<double>(size.count) / 1e8)) / 10.0, " GB");
}

std::string counted(std::size_t number, const char* one, const char* many)
{
    return base::join(number, " ", number == 1 ? one : many);
}

Finding cpus()
{
    const base::CpuSet allowed = base::allowed_cpus();
    const std::vector<base::Core> cores = base::physical_cores(allowed);
    std::set<int> packages;
    for (const base::Core& core : cores) packages.insert(core.package);
    Finding finding{.what = "CPUs",
                    .needed = true,
                    .found = base::join(base::format_cpus(allowed), ": ", counted(cores.size(), "core", "cores"),
                                        " on ", counted(packages.size(), "socket", "sockets"))};
    if (const auto quota = base::cpu_quota(); quota && *quota < static_cast<double>(allowed.size())) {
        finding.state = State::limited;
        finding.advice = base::join("the control group grants ", base::format(*quota),
                                    " CPUs of time, so noise and job slow each other through this limit");
    } else if (cores.size() < 2) {
        finding.state = State::limited;
        finding.advice = "job and noise must share the only core, which measures sharing, not interference";
    }
    return finding;
}

Finding machine()
{
    const std::string maker = base::run_record("crosstalk").value("virtual_machine", std::string{});
    if (maker.empty()) return {.what = "machine", .found = "not a virtual machine"};
    return {.what = "machine",
            .state = State::limited,
            .found = "virtual, by " + maker,
            .advice = "virtual CPUs may share cores and caches, and other machines may disturb: repeat runs"};
}

Finding clock()
{
    const std::string source = first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    const bool quick = source == "tsc" || source == "kvm-clock" || source == "arch_sys_counter";
    return {.what = "clock",
            .state = quick ? State::there : State::limited,
            .found = source.empty() ? "unknown" : source,
            .advice = quick ? "" : "reading it takes a system call, for every traced event"};
}

Finding memory()
{
    const base::Bytes left = base::available_memory();
    constexpr std::int64_t least = std::int64_t{1} << 30U;
    return {.what = "memory",
            .state = left.count >= least ? State::there : State::limited,
            .found = gigabytes(left) + " available",
            .advice = left.count >= least ? "" : "memory.* needs four times the last-level cache per noise CPU"};
}

Finding scratch()
{
    const fs::path here = fs::current_path();
    const bool kept_in_memory = base::in_memory(here);
    return {.what = "disk",
            .state = kept_in_memory ? State::limited : State::there,
            .found = gigabytes(base::free_disk(here)) + " free in this directory",
            .advice = kept_in_memory ? "it is in memory, so io.* stresses memory: use another directory" : ""};
}

// "version 1: cpu, freezer, memory writable; blkio read only".
std::string described(const std::vector<base::CgroupController>& controllers)
{
    std::vector<std::string> writable;
    std::vector<std::string> others;
    std::set<int> versions;
    for (const base::CgroupController& controller : controllers) {
        (controller.writable ? writable : others).push_back(controller.name);
        versions.insert(controller.version);
    }
    std::string text = base::join("version ", *versions.begin(), versions.size() > 1 ? " and 2: " : ": ");
    if (!writable.empty()) text += base::join_words(writable, ", ") + " writable";
    if (!others.empty()) text += (writable.empty() ? "" : "; ") + base::join_words(others, ", ") + " read only";
    return text;
}

Finding cgroups()
{
    const std::vector<base::CgroupController> controllers = base::cgroup_controllers();
    if (controllers.empty())
        return {.what = "cgroups",
                .state = State::missing,
                .advice =
                    "mount -t cgroup2 none /sys/fs/cgroup; without it, limits of a container are unknown to noise, and "
                    "job.run stops its program by signals"};
    Finding finding{.what = "cgroups", .found = described(controllers)};
    const auto has = [&](const char* name, bool to_write) {
        return std::any_of(controllers.begin(), controllers.end(), [&](const base::CgroupController& controller) {
            return controller.name == name && (controller.writable || !to_write);
        });
    };
    std::vector<std::string> advice;
    if (!has("freezer", true))
        advice.emplace_back(
            "job.run stops its program by signals, since it cannot create a freezer cgroup: start as root, or by "
            "systemd-run --user --scope --property=Delegate=yes (apt-get install systemd dbus-user-session)");
    for (const char* limited : {"cpu", "memory"})
        if (!has(limited, false))
            advice.push_back(base::join("without ", limited, " its limits are unknown: under systemd Delegate=",
                                        limited, ", under Slurm TaskPlugin=task/cgroup"));
    if (advice.empty()) return finding;
    finding.state = State::limited;
    finding.advice = base::join_words(advice, "; ");
    return finding;
}

// trace-os reports which sources it can read here.
void add_evidence(std::vector<Finding>& findings)
{
    const auto missing = [&](const std::string& advice) {
        findings.push_back({.what = "evidence", .state = State::missing, .advice = advice});
    };
    if (!fs::exists(path_of_program("trace-os"))) return missing("no trace-os next to this program: build it");
    const Answer answer = answer_of({program("trace-os"), "--sources", "--json"}, Errors::in_the_text);
    const auto said = nlohmann::ordered_json::parse(answer.text, nullptr, false);
    if (!said.is_object() || !said.contains("sources")) return missing(last_message(answer.text));
    for (const auto& source : said.at("sources")) {
        const std::string lacks = source.at("lacks");
        findings.push_back(
            {.what = base::join("evidence: ", source.at("name").get<std::string>()),
             .state = lacks.empty() ? State::there : State::missing,
             .found = lacks.empty() ? source.at("gives").get<std::string>() : "",
             .advice = lacks.empty() ? "" : base::join(source.at("gives").get<std::string>(), ": ", lacks)});
    }
}

Finding resctrl()
{
    if (fs::exists("/sys/fs/resctrl/schemata")) return {.what = "resctrl", .found = "mounted"};
    const bool known = fs::exists("/sys/fs/resctrl");
    return {.what = "resctrl",
            .state = State::missing,
            .advice = known ? "mount -t resctrl resctrl /sys/fs/resctrl to limit cache and memory bandwidth of noise"
                            : "the processor or the kernel cannot limit cache and memory bandwidth of noise"};
}

Finding tool(const char* what, const char* name, bool needed, const std::string& advice)
{
    const bool there = found_on_path(name).has_value();
    return {.what = what,
            .state = there ? State::there : State::missing,
            .needed = needed,
            .found = there ? base::join(name, " is on PATH") : "",
            .advice = there ? "" : advice};
}

// srun may be installed where no cluster is.
Finding slurm()
{
    Finding finding = tool("Slurm", "srun", false,
                           "only for clusters; to try job scripts on this machine: apt-get install slurm-wlm munge");
    if (finding.state == State::there &&
        answer_of({"timeout", "5", "scontrol", "ping"}, Errors::in_the_text).code != 0) {
        finding.state = State::limited;
        finding.advice =
            "no controller answers scontrol ping: this host is not in a cluster, or its controller is down";
    }
    return finding;
}

Finding own_program(const char* name, bool needed, const std::string& advice)
{
    const bool there = fs::exists(path_of_program(name));
    return {.what = name,
            .state = there ? State::there : State::missing,
            .needed = needed,
            .found = there ? "next to this program" : "",
            .advice = there ? "" : advice};
}

Finding gpu()
{
    if (fs::exists("/dev/nvidia0")) return {.what = "GPU", .found = "/dev/nvidia0"};
    return {.what = "GPU", .state = State::missing, .advice = "trainings run on CPUs here"};
}

std::string text(State state)
{
    switch (state) {
        case State::there:
            return "there";
        case State::limited:
            return "limited";
        case State::missing:
            break;
    }
    return "missing";
}

}  // namespace

std::vector<Finding> examine()
{
    std::vector<Finding> findings{
        cpus(),
        machine(),
        clock(),
        memory(),
        scratch(),
        own_program("noisegen", true, "build it (needs OTF2)"),
        own_program("interference", true, "build it (needs OTF2 and Eigen: apt-get install libeigen3-dev)"),
        own_program("trace-record", false, "records MPI calls of a job; build it (needs OTF2 and MPI)"),
        own_program("ddl-train", false, "a training to measure; build it (needs MPI, and LibTorch for all models)"),
        tool("setpriv", "setpriv", true, "apt-get install util-linux; ends a run's processes with the run"),
        tool("gnuplot", "gnuplot", false, "apt-get install gnuplot-nox: draws the report's plots"),
        tool("MPI", "mpirun", false, "apt-get install openmpi-bin: starts trainings of several ranks"),
        slurm(),
        cgroups(),
        resctrl(),
        gpu(),
    };
    add_evidence(findings);
    return findings;
}

bool can_run(const std::vector<Finding>& findings)
{
    return std::none_of(findings.begin(), findings.end(),
                        [](const Finding& finding) { return finding.needed && finding.state == State::missing; });
}

void print(std::ostream& out, const std::vector<Finding>& findings)
{
    constexpr std::size_t width = 22;
    constexpr std::size_t line = 100;
    for (const Finding& finding : findings) {
        std::string head = finding.what;
        head.resize(std::max(width, head.size() + 1), ' ');
        std::string state = text(finding.state);
        state.resize(9, ' ');
        const std::string& said = finding.found.empty() ? finding.advice : finding.found;
        out << head << state << base::wrapped(said, width + 9, line).substr(width + 9);
        if (!finding.found.empty() && !finding.advice.empty()) out << base::wrapped(finding.advice, width + 9, line);
    }
    out << (can_run(findings) ? "\ncrosstalk run works here\n"
                              : "\ncrosstalk run does not work here: see missing items above\n");
}

void print_json(std::ostream& out, const std::vector<Finding>& findings)
{
    nlohmann::ordered_json all;
    all["format"] = base::format_version;
    all["can_run"] = can_run(findings);
    all["findings"] = nlohmann::ordered_json::array();
    for (const Finding& finding : findings)
        all["findings"].push_back({{"what", finding.what},
                                   {"state", text(finding.state)},
                                   {"needed", finding.needed},
                                   {"found", finding.found},
                                   {"advice", finding.advice}});
    out << base::json_text(all) << "\n";
}

}  // namespace crosstalk
