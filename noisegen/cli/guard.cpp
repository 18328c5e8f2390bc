#include "noisegen/cli/guard.hpp"

#include "noisegen/stressors/control/pause_guardian.hpp"
#include "noisegen/stressors/io/remove_tree.hpp"
#include "noisegen/stressors/io/scratch_directory.hpp"

#include <cerrno>

#include <sys/syscall.h>
#include <unistd.h>

namespace noisegen {

int guard(Guardian::Duty duty, const char* word)
{
    const bool pauses = duty == Guardian::Duty::pause;
    ::syscall(SYS_close_range, pauses ? guarded_first : first_foreign, ~0U, 0U);
    if (pauses) {
        end_pauses(guarded_pipe);
        return 0;
    }
    char nothing = 0;
    while (::read(guarded_pipe, &nothing, 1) < 0 && errno == EINTR) {
    }
    remove_tree(guarded_first, word, guarded_second, ScratchDirectory::mark);
    return 0;
}

}  // namespace noisegen
