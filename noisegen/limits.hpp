// What this machine has to give, and the refusal to take the last of it.
#pragma once

#include "base/local_rank.hpp"
#include "base/options.hpp"
#include "noisegen/schedule.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace noisegen {

// Memory that can be taken without swapping: MemAvailable, cut by what the process's cgroup and its parents have left
// (v1 and v2; page cache that can be dropped counts as left). `root` stands for / in tests.
base::Bytes available_memory(const std::filesystem::path& root = "/");

// Throws std::system_error for a directory that is not there.
base::Bytes free_disk(const std::filesystem::path& directory);

// Files that can still be made there; none where the file system sets no limit. Throws std::system_error.
std::optional<std::int64_t> free_files(const std::filesystem::path& directory);

// Is what is written there kept in memory (tmpfs, ramfs)?
bool in_memory(const std::filesystem::path& directory);

// What one stressor takes in this process: its needs times the CPUs it runs on.
struct Demand {
    std::string stressor;
    Needs needs;
    std::size_t instances = 1;
};

// Of all stressors of the schedule; `runs` are the CPUs of each (divide()).
std::vector<Demand> demands(const Schedule& schedule, const std::vector<std::vector<int>>& runs);

struct Limits {
    base::Percent max_memory{50.0};  // of what is available
    base::Percent max_disk{50.0};    // of the space and of the files that are free, each file system by itself
};

// --max-memory and --max-disk.
void add_budgets(base::Options& options, Limits& limits);

// Files that one process makes at most: they must be gone half a second after the end.
constexpr std::int64_t most_files_of_a_process = 100'000;

// `processes` of this host take as much each. Throws UsageError that says what was asked for, what there is and which
// option decides, or Unavailable. Files in memory count as memory too; that they are there is told on stderr.
void check_demands(const std::vector<Demand>& demands, const Limits& limits, int processes = base::local_rank().size);

// Lets this process open as many files as the demands say (RLIMIT_NOFILE), beside what it opens anyway. Throws
// UsageError if that is more than the hard limit.
void allow_descriptors(const std::vector<Demand>& demands);

}  // namespace noisegen
