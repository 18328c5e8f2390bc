#include "jobscripts/leftovers/leftovers.hpp"

#include "base/contract/campaign_directory.hpp"
#include "base/error.hpp"
#include "base/system/processes.hpp"
#include "base/system/waiting.hpp"

#include <csignal>
#include <fstream>
#include <set>
#include <sstream>

#include <unistd.h>

namespace crosstalk {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t end_within_ns = 6'000'000'000;

// Processes that carry the variable; those of other users cannot be read, and are not ours.
std::set<pid_t> processes_of(const fs::path& run)
{
    const std::string mark = base::join('\0', base::campaign::variable, "=", run.string(), '\0');
    std::set<pid_t> found;
    for (const auto& [pid, process] : base::processes()) {
        if (pid == ::getpid()) continue;
        std::ifstream file{base::join("/proc/", pid, "/environ")};
        std::ostringstream text;
        text << '\0' << file.rdbuf();
        if (text.str().find(mark) != std::string::npos) found.insert(pid);
    }
    return found;
}

void signal_all(const std::set<pid_t>& processes, int signal)
{
    for (const pid_t pid : processes) ::kill(pid, signal);
}

}  // namespace

void end_leftovers(const fs::path& partial)
{
    constexpr std::int64_t look_again_ns = 100'000'000;
    const auto gone = [&] { return processes_of(partial).empty(); };
    for (const int signal : {SIGTERM, SIGKILL}) {
        signal_all(processes_of(partial), signal);
        if (base::wait_until(gone, end_within_ns, look_again_ns)) return;
    }
    base::fail("processes of an earlier attempt do not end: ", partial.string());
}

void clear_leftovers(const fs::path& partial)
{
    end_leftovers(partial);
    fs::remove_all(partial);
}

}  // namespace crosstalk
