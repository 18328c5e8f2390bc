// SPDX-License-Identifier: Apache-2.0
#include "noisegen/cli/commands.hpp"
#include "noisegen/stressors/control/pause_guardian.hpp"
#include "noisegen/stressors/io/remove_tree.hpp"
#include "noisegen/stressors/io/scratch_directory.hpp"
#include "noisegen/stressors/job/confinement_guardian.hpp"
#include "noisegen/stressors/job/job_keeper.hpp"

#include <cerrno>
#include <fstream>

#include <sys/syscall.h>
#include <unistd.h>

namespace noisegen {

int guard(Guardian::Duty duty, const char* word)
{
    const auto close_from = [](unsigned first) { ::syscall(SYS_close_range, first, ~0U, 0U); };
    if (duty == Guardian::Duty::pause) {
        close_from(guarded_first);
        end_pauses(guarded_pipe);
        return 0;
    }
    if (duty == Guardian::Duty::cores) {
        close_from(guarded_first);
        end_confinement(guarded_pipe);
        return 0;
    }
    if (duty == Guardian::Duty::job) {
        close_from(guarded_second);
        keep_job(job_start(word), guarded_pipe, guarded_first);
        return 0;
    }
    close_from(first_foreign);
    char nothing = 0;
    while (::read(guarded_pipe, &nothing, 1) < 0 && errno == EINTR) {
    }
    remove_tree(guarded_first, word, guarded_second, ScratchDirectory::mark);
    return 0;
}

int be_first_victim()
{
    constexpr const char* file = "/proc/self/oom_score_adj";
    constexpr int first = 1000;
    std::ofstream{file} << first << std::flush;
    int has = 0;
    std::ifstream{file} >> has;
    return has;
}

}  // namespace noisegen
