// SPDX-License-Identifier: Apache-2.0
#include "base/contract/run_record.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/system/clock.hpp"
#include "base/system/cpus.hpp"
#include "base/system/environment.hpp"
#include "base/system/launcher.hpp"
#include "base/version.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <ctime>
#include <thread>

#include <sys/utsname.h>
#include <unistd.h>

namespace base {

namespace {

std::string cpu_model()
{
    for (const std::string& line : lines_in("/proc/cpuinfo"))
        if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
    return "unknown";
}

// Manufacturer of the virtual machine from the firmware's tables; empty on bare metal, as far as can be seen. That the
// machine is virtual is known from the processor's flags (x86) or from those tables (others).
std::string virtual_machine()
{
    const std::string maker = first_line("/sys/class/dmi/id/sys_vendor");
    const std::string product = first_line("/sys/class/dmi/id/product_name");
    const std::string sold_as = join(maker, " ", product);
    bool guest = !first_line("/sys/hypervisor/type").empty();
    for (const std::string& line : lines_in("/proc/cpuinfo"))
        guest = guest || (line.starts_with("flags") && (line + " ").find(" hypervisor ") != std::string::npos);
    for (const char* word : {"QEMU", "KVM", "VMware", "VirtualBox", "Virtual Machine", "Amazon EC2", "Xen"})
        if (sold_as.find(word) != std::string::npos && product.find(".metal") == std::string::npos) guest = true;
    if (!guest) return "";
    return maker.empty() ? "unknown maker" : maker;
}

std::string kernel()
{
    utsname name{};
    uname(&name);
    return std::string{name.sysname} + " " + name.release + " " + name.machine;
}

std::string iso_time(std::int64_t realtime_ns)
{
    const std::time_t seconds = realtime_ns / 1'000'000'000;
    std::tm broken{};
    gmtime_r(&seconds, &broken);
    std::array<char, 32> text{};
    const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &broken);
    return {text.data(), length};
}

nlohmann::ordered_json with_command_line(const std::string& program, const std::vector<std::string>& words)
{
    const std::int64_t offset = realtime_offset_ns();
    const std::int64_t now = now_ns();
    nlohmann::ordered_json record;
    record["format"] = format_version;
    record["program"] = program;
    record["version"] = version();
    record["git_revision"] = git_revision();
    record["command_line"] = without_secrets(words);
    record["host"] = host_name();
    record["pid"] = ::getpid();
    record["started"] = iso_time(now + offset);
    record["started_monotonic_ns"] = now;
    record["clock_identity"] = clock_identity().text();
    record["realtime_minus_monotonic_ns"] = offset;
    record["kernel"] = kernel();
    record["cpu_model"] = cpu_model();
    record["virtual_machine"] = virtual_machine();
    record["cpus_online"] = std::thread::hardware_concurrency();
    record["cpus_allowed"] = format_cpus(allowed_cpus());
    const JobRank job = job_rank();
    record["rank"] = job.rank;
    record["ranks"] = job.size;
    nlohmann::ordered_json variables = nlohmann::ordered_json::object();
    for (const char* name : {"SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_JOB_NODELIST", "SLURM_CPU_BIND", "SLURMD_NODENAME",
                             "OMPI_VERSION", "OMPI_MCA_mpi_yield_when_idle", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"})
        if (const auto value = environment(name)) variables[name] = *value;
    record["environment"] = variables;
    record["machine"] = machine_state();
    return record;
}

}  // namespace

nlohmann::ordered_json run_record(const std::string& program, int argc, char** argv)
{
    return with_command_line(program, {argv, argv + argc});
}

nlohmann::ordered_json run_record(const std::string& program)
{
    return with_command_line(program, lines_in("/proc/self/cmdline", '\0'));
}

}  // namespace base
