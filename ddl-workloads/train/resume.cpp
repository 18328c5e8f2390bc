// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/train/resume.hpp"

#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "ddl-workloads/checkpoint/checkpoint_format.hpp"
#include "ddl-workloads/checkpoint/checkpoint_store.hpp"

#include <cerrno>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace ddl {

namespace fs = std::filesystem;

namespace {

fs::path numbered_part(const fs::path& run, int number)
{
    return run / base::join("train.", number);
}

int earlier_parts(const fs::path& run)
{
    int parts = 0;
    while (fs::exists(numbered_part(run, parts + 1))) ++parts;
    return parts;
}

// Checkpoints of all parts of a run: the last part first, and the newest checkpoint of each part first.
std::vector<fs::path> checkpoints_of(const fs::path& run)
{
    std::vector<fs::path> all = checkpoints_in(run / base::part::train / "checkpoints");
    for (int part = earlier_parts(run); part > 0; --part)
        for (const fs::path& checkpoint : checkpoints_in(numbered_part(run, part) / "checkpoints"))
            all.push_back(checkpoint);
    return all;
}

}  // namespace

PartInUse::PartInUse(const fs::path& part)
    : directory_{base::check_errno(::open(part.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open ", part.string())}
{
    // On a file system without locks, a running training cannot be detected.
    if (::flock(directory_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
    base::fail_usage(part.string(), " is of a training that is still running");
}

fs::path newest_of(const fs::path& directory)
{
    if (is_checkpoint(directory)) return first_sound(std::vector{directory});
    std::vector<fs::path> all = checkpoints_in(directory);
    if (all.empty()) all = checkpoints_of(directory);
    if (all.empty()) base::fail("--resume: ", directory.string(), " has no checkpoint");
    return first_sound(all);
}

fs::path newest_of_parts(const fs::path& run)
{
    if (const fs::path last = run / base::part::train; fs::exists(last)) {
        const PartInUse nobody_elses{last};
        fs::rename(last, numbered_part(run, earlier_parts(run) + 1));
    }
    const std::vector<fs::path> all = checkpoints_of(run);
    if (!all.empty()) return first_sound(all);
    if (earlier_parts(run) > 0) base::warn("no earlier checkpoint: starting from the beginning");
    return {};
}

}  // namespace ddl
