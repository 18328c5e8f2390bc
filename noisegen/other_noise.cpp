#include "noisegen/other_noise.hpp"

#include "base/run_record.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include <unistd.h>

namespace noisegen {

namespace fs = std::filesystem;

namespace {

struct Seen {
    std::string name;  // a guardian has another
    pid_t parent = 0;
};

Seen seen(const fs::path& process)
{
    Seen found;
    std::ifstream status{process / "status"};
    for (std::string word; status >> word; status.ignore(std::numeric_limits<std::streamsize>::max(), '\n')) {
        if (word == "Name:") status >> found.name;
        if (word == "PPid:") status >> found.parent;
    }
    return found;
}

}  // namespace

std::vector<pid_t> other_noise(const base::CpuSet& cpus, const base::CpuSet& allowed)
{
    const Seen own = seen("/proc/self");
    const bool in_a_job = base::job_rank().size > 1;  // whose ranks have one parent
    std::vector<pid_t> others;
    std::error_code code;
    for (const auto& entry : fs::directory_iterator{"/proc", code}) {
        const std::string word = entry.path().filename().string();
        if (word.find_first_not_of("0123456789") != std::string::npos) continue;
        const pid_t pid = std::atoi(word.c_str());
        const Seen found = seen(entry.path());
        if (pid == ::getpid() || found.name != own.name || (in_a_job && found.parent == own.parent)) continue;
        const base::CpuSet bound = base::affinity_of(pid);
        const bool has_chosen =
            allowed.size() == 1 || !std::includes(bound.begin(), bound.end(), allowed.begin(), allowed.end());
        const bool meets = std::any_of(bound.begin(), bound.end(), [&](int cpu) { return cpus.contains(cpu); });
        if (has_chosen && meets) others.push_back(pid);
    }
    return others;
}

}  // namespace noisegen
