#include "base/run_record.hpp"

#include "base/clock.hpp"
#include "base/cpus.hpp"
#include "base/error.hpp"
#include "base/version.hpp"

#include <array>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <thread>

#include <sys/utsname.h>
#include <unistd.h>

namespace base {

namespace {

std::string cpu_model()
{
    std::ifstream file{"/proc/cpuinfo"};
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
    return "unknown";
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

std::string variable(const char* name)
{
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

int number_or(const std::string& text, int otherwise)
{
    if (text.empty()) return otherwise;
    try {
        return parse<int>(text);
    } catch (const UsageError&) {
        return otherwise;
    }
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
    record["command_line"] = words;
    record["host"] = host_name();
    record["pid"] = ::getpid();
    record["started"] = iso_time(now + offset);
    record["started_monotonic_ns"] = now;
    record["clock_identity"] = clock_identity().text();
    record["realtime_minus_monotonic_ns"] = offset;
    record["kernel"] = kernel();
    record["cpu_model"] = cpu_model();
    record["cpus_online"] = std::thread::hardware_concurrency();
    record["cpus_allowed"] = format_cpus(allowed_cpus());
    const JobRank job = job_rank();
    record["rank"] = job.rank;
    record["ranks"] = job.size;
    nlohmann::ordered_json environment = nlohmann::ordered_json::object();
    for (const char* name : {"SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_JOB_NODELIST", "SLURM_CPU_BIND", "SLURMD_NODENAME",
                             "OMPI_VERSION", "OMPI_MCA_mpi_yield_when_idle", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"})
        if (!variable(name).empty()) environment[name] = variable(name);
    record["environment"] = environment;
    return record;
}

}  // namespace

nlohmann::ordered_json run_record(const std::string& program, int argc, char** argv)
{
    return with_command_line(program, {argv, argv + argc});
}

nlohmann::ordered_json run_record(const std::string& program)
{
    std::ifstream file{"/proc/self/cmdline", std::ios::binary};
    std::vector<std::string> words;
    for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
    return with_command_line(program, words);
}

std::string host_name()
{
    const std::string node = variable("SLURMD_NODENAME");
    if (!node.empty()) return node;
    utsname name{};
    uname(&name);
    const std::string full = name.nodename;
    const std::string host = full.substr(0, full.find('.'));
    return host.empty() ? "localhost" : host;
}

JobRank job_rank()
{
    JobRank job;
    if (const std::string rank = variable("OMPI_COMM_WORLD_RANK"); !rank.empty()) {
        job = {number_or(rank, 0), number_or(variable("OMPI_COMM_WORLD_SIZE"), 1), true};
    } else if (const std::string pmix = variable("PMIX_RANK"); !pmix.empty()) {
        const int step_tasks = number_or(variable("SLURM_STEP_NUM_TASKS"), 1);
        job = {number_or(pmix, 0), number_or(variable("SLURM_NTASKS"), step_tasks), true};
        if (step_tasks > 0) job.size = step_tasks;
    } else if (const std::string slurm = variable("SLURM_PROCID");
               !slurm.empty() && !variable("SLURM_STEP_ID").empty()) {
        job = {number_or(slurm, 0), number_or(variable("SLURM_STEP_NUM_TASKS"), 1), false};
    }
    return job;
}

}  // namespace base
