// SPDX-License-Identifier: Apache-2.0
#include "noisegen/stressors/control/pause_guardian.hpp"

#include "base/system/clock.hpp"
#include "noisegen/stressors/guardian.hpp"

#include <cerrno>
#include <csignal>
#include <fstream>
#include <vector>

#include <unistd.h>

namespace noisegen {

namespace {

void let_go_on(const std::vector<pid_t>& stopped)
{
    for (const pid_t pid : stopped) ::kill(pid, SIGCONT);
}

}  // namespace

void end_pauses(int pipe)
{
    std::ofstream{"/proc/self/oom_score_adj"} << 0 << std::flush;
    std::vector<pid_t> meant;
    bool in_pause = false;
    std::int64_t until_ns = 0;
    while (true) {
        while (in_pause && !wait_for_message(pipe, until_ns + pause_grace_ns)) {
            let_go_on(meant);
            until_ns = base::now_ns();
        }
        PauseNews news;
        const ssize_t got = ::read(pipe, &news, sizeof news);
        if (got < 0 && errno == EINTR) continue;
        if (got != sizeof news) break;
        switch (news.kind) {
            case PauseNews::Kind::forget:
                if (in_pause) let_go_on(meant);
                in_pause = false;
                meant.clear();
                break;
            case PauseNews::Kind::add:
                meant.push_back(news.pid);
                break;
            case PauseNews::Kind::begin:
                in_pause = true;
                until_ns = news.until_ns;
                break;
            case PauseNews::Kind::end:
                in_pause = false;
                break;
        }
    }
    if (in_pause) let_go_on(meant);
}

}  // namespace noisegen
