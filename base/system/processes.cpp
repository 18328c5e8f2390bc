// SPDX-License-Identifier: Apache-2.0
#include "base/system/processes.hpp"

#include "base/files.hpp"
#include "base/units.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include <sys/stat.h>
#include <unistd.h>

namespace base {

namespace fs = std::filesystem;

namespace {

const fs::path proc{"/proc"};

std::optional<Process> process(const fs::path& directory)
{
    const std::string text = first_line(directory / "stat");
    // "12 (a name) S 1 ...": the name may contain parentheses, so the last one ends it.
    const std::size_t open = text.find('(');
    const std::size_t close = text.rfind(')');
    if (open == std::string::npos || close == std::string::npos) return {};
    std::istringstream rest{text.substr(close + 1)};
    Process found;
    found.name = text.substr(open + 1, close - open - 1);
    if (!(rest >> found.state >> found.parent) || found.state == 'Z') return {};
    std::string skipped;
    for (int field = 5; field < 22; ++field) rest >> skipped;
    if (!(rest >> found.started)) return {};
    struct stat status {};
    if (::stat(directory.c_str(), &status) != 0) return {};
    found.owner = status.st_uid;
    return found;
}

// The processes, or threads, that have directories there.
std::map<pid_t, Process> processes_in(const fs::path& directory)
{
    std::map<pid_t, Process> all;
    std::error_code code;
    for (const auto& entry : fs::directory_iterator{directory, code}) {
        const std::string word = entry.path().filename().string();
        if (word.find_first_not_of("0123456789") != std::string::npos) continue;
        if (std::optional<Process> found = process(entry.path())) all[parse<int>(word)] = std::move(*found);
    }
    return all;
}

}  // namespace

std::map<pid_t, Process> processes()
{
    return processes_in(proc);
}

std::map<pid_t, Process> processes(const std::set<pid_t>& only)
{
    std::map<pid_t, Process> all;
    for (const pid_t pid : only)
        if (std::optional<Process> found = process(proc / std::to_string(pid))) all[pid] = std::move(*found);
    return all;
}

std::map<pid_t, Process> threads_of(pid_t pid)
{
    return processes_in(proc / std::to_string(pid) / "task");
}

std::uint64_t ticks_since_boot()
{
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    const auto per_s = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
    return static_cast<std::uint64_t>(now.tv_sec) * per_s +
           static_cast<std::uint64_t>(now.tv_nsec) * per_s / 1'000'000'000U;
}

std::set<pid_t> hidden_children(const std::set<pid_t>& parents)
{
    std::set<pid_t> hidden;
    std::error_code code;
    for (const pid_t parent : parents)
        for (const auto& task : fs::directory_iterator{proc / std::to_string(parent) / "task", code}) {
            std::ifstream children{task.path() / "children"};
            for (pid_t pid = 0; children >> pid;)
                if (!process(proc / std::to_string(pid)) && !std::ifstream{proc / std::to_string(pid) / "stat"} &&
                    (::kill(pid, 0) == 0 || errno == EPERM))
                    hidden.insert(pid);
        }
    return hidden;
}

bool has_variable(pid_t pid, const std::string& name, const std::string& value)
{
    return std::ranges::count(lines_in(proc / std::to_string(pid) / "environ", '\0'), name + "=" + value) > 0;
}

std::set<pid_t> with_descendants(std::set<pid_t> roots, const std::map<pid_t, Process>& all)
{
    for (bool grown = true; grown;) {  // children may have smaller numbers than their parents
        grown = false;
        for (const auto& [pid, process] : all)
            if (roots.contains(process.parent)) grown = roots.insert(pid).second || grown;
    }
    return roots;
}

std::set<pid_t> with_ancestors(pid_t pid, const std::map<pid_t, Process>& all)
{
    std::set<pid_t> family;
    while (all.contains(pid) && family.insert(pid).second) pid = all.at(pid).parent;
    return family;
}

}  // namespace base
