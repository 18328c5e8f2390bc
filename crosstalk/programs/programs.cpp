// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/programs/programs.hpp"

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "base/system/environment.hpp"
#include "base/system/processes.hpp"
#include "base/system/stop.hpp"
#include "base/words.hpp"

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace crosstalk {

namespace {

namespace fs = std::filesystem;

void signal_to(const std::set<pid_t>& processes, int signal)
{
    for (const pid_t pid : processes) ::kill(pid, signal);
}

}  // namespace

fs::path path_of_program(const std::string& name)
{
    const fs::path beside = fs::read_symlink("/proc/self/exe").parent_path();
    return fs::path{base::environment("CROSSTALK_BIN").value_or(beside)} / name;
}

std::string program(const std::string& name)
{
    const fs::path path = path_of_program(name);
    if (!fs::exists(path))
        base::unavailable("there is no ", path.string(), ": build all programs (cmake --build), or reinstall");
    return path.string();
}

fs::path script(const std::string& name)
{
    const fs::path prefix = path_of_program("").parent_path().parent_path();
    for (const fs::path& folder : {prefix / CROSSTALK_SCRIPT_FOLDER, fs::path{CROSSTALK_SCRIPT_SOURCE}})
        if (fs::exists(folder / name)) return folder / name;
    base::unavailable("there is no ", (prefix / CROSSTALK_SCRIPT_FOLDER / name).string(), ": reinstall");
}

std::optional<fs::path> found_on_path(const std::string& name)
{
    const auto runs = [](const fs::path& path) { return ::access(path.c_str(), X_OK) == 0; };
    if (name.find('/') != std::string::npos) return runs(name) ? std::optional<fs::path>{name} : std::nullopt;
    for (const std::string& folder : base::split(base::environment("PATH").value_or(""), ':'))
        if (runs(fs::path{folder} / name)) return fs::path{folder} / name;
    return {};
}

std::unique_ptr<base::Child> start(base::Launch launch, const base::CpuSet& cpus)
{
    if (!found_on_path(launch.words.front())) base::fail_usage("no program '", launch.words.front(), "' on PATH");
    launch.words.insert(launch.words.begin(), {"setpriv", "--pdeathsig", "TERM"});
    const base::CpuSet own = base::affinity_of(0);
    if (!cpus.empty()) base::bind_this_thread(cpus);  // the child will inherit the binding
    auto child = std::make_unique<base::Child>(launch);
    base::bind_this_thread(own);
    return child;
}

Answer answer_of(const std::vector<std::string>& words, Errors errors)
{
    const base::Descriptor memory{base::check_errno(::memfd_create("output", MFD_CLOEXEC), "get memory for output")};
    base::Launch launch{
        .words = words, .folder = {}, .output = base::join("/proc/self/fd/", int{memory}), .errors = {}};
    if (errors == Errors::in_the_text) launch.errors = launch.output;
    base::Child child{launch};
    Answer answer{.code = child.wait(), .text = {}};
    std::array<char, 4096> part{};
    ssize_t count = 0;
    while ((count = ::pread(memory, part.data(), part.size(), static_cast<off_t>(answer.text.size()))) > 0)
        answer.text.append(part.data(), static_cast<std::size_t>(count));
    return answer;
}

std::vector<std::string> lines_of(const std::string& text)
{
    std::vector<std::string> lines;
    std::istringstream in{text};
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

std::string message_in(const std::string& line)
{
    std::string message = line;
    for (std::size_t end = message.find(": "); end != std::string::npos; end = message.find(": ")) {
        const std::string name = message.substr(0, end);
        std::error_code ignored;
        if (name.find('/') != std::string::npos || !fs::is_regular_file(path_of_program(name), ignored)) break;
        message.erase(0, end + 2);
    }
    return message;
}

std::string last_message(const std::string& text)
{
    std::string last;
    for (const std::string& line : lines_of(text))
        if (!base::trim(line).empty()) last = line;
    return message_in(last);
}

void prepare_for_mpi()
{
    const auto set = [](const char* name, const char* value) { ::setenv(name, value, 0); };
    if (::geteuid() == 0) {
        set("OMPI_ALLOW_RUN_AS_ROOT", "1");
        set("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    }
    set("OMPI_MCA_hwloc_base_binding_policy", "none");
    set("OMPI_MCA_rmaps_base_oversubscribe", "1");
    set("OMPI_MCA_mpi_yield_when_idle", "1");  // MPI counts more CPUs than the job has, so waiting ranks must yield
    set("OMPI_MCA_odls_base_sigkill_timeout", "6");  // on a loaded node an archive takes time to be written
}

int wait_for(base::Child& child)
{
    constexpr base::Nanoseconds look_again{200'000'000};
    while (true) {
        if (const std::optional<int> code = child.wait(look_again)) return *code;
        base::end_if_stopped();
    }
}

void adopt_orphans()
{
    base::check_errno(::prctl(PR_SET_CHILD_SUBREAPER, 1), "become a child subreaper");
}

void leave_orphans()
{
    ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

std::set<pid_t> started_processes()
{
    std::set<pid_t> all = base::with_descendants({::getpid()}, base::processes());
    all.erase(::getpid());
    return all;
}

void end_started_processes()
{
    constexpr std::int64_t grace_ns = 8'000'000'000;  // mpirun gives its ranks part of this time
    constexpr std::int64_t insist_ns = 2'000'000'000;
    constexpr std::int64_t look_again_ns = 50'000'000;
    const std::int64_t begin_ns = base::now_ns();
    std::set<pid_t> asked;
    for (std::int64_t now_ns = begin_ns; now_ns < begin_ns + grace_ns + insist_ns; now_ns = base::now_ns()) {
        const std::set<pid_t> running = started_processes();
        if (running.empty()) return;
        if (now_ns > begin_ns + grace_ns)
            signal_to(running, SIGKILL);
        else
            for (const pid_t pid : running)
                if (asked.insert(pid).second) ::kill(pid, SIGTERM);
        base::sleep_until_ns(now_ns + look_again_ns);
    }
}

}  // namespace crosstalk
