// SPDX-License-Identifier: Apache-2.0
#include "noisegen/stressors/guardian.hpp"

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/system/clock.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <string_view>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace noisegen {

namespace {

// By duty.
constexpr std::array<std::string_view, 4> modes{"--guard-scratch", "--guard-pause", "--guard-job", "--guard-cores"};
constexpr const char* guardian_name = "crosstalk-guard";  // the kernel keeps 15 letters
bool can_guard = false;

std::string_view mode_of(Guardian::Duty duty)
{
    return modes.at(static_cast<std::size_t>(duty));
}

// A copy of the descriptor whose number is not used for the guardian's descriptors.
int copy_out_of_the_way(int file)
{
    return base::check_errno(::fcntl(file, F_DUPFD_CLOEXEC, 2 * first_foreign), "copy a descriptor");
}

struct SpawnSettings {
    SpawnSettings()
    {
        posix_spawn_file_actions_init(&files);
        posix_spawnattr_init(&attributes);
        sigset_t ending;
        sigemptyset(&ending);
        for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) sigaddset(&ending, signal);
        posix_spawnattr_setsigmask(&attributes, &ending);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
    }
    ~SpawnSettings()
    {
        posix_spawn_file_actions_destroy(&files);
        posix_spawnattr_destroy(&attributes);
    }
    SpawnSettings(const SpawnSettings&) = delete;
    SpawnSettings& operator=(const SpawnSettings&) = delete;

    void hand_over(int file, int as)
    {
        copies.emplace_back(copy_out_of_the_way(file));
        posix_spawn_file_actions_adddup2(&files, copies.back(), as);
    }

    posix_spawn_file_actions_t files{};
    posix_spawnattr_t attributes{};
    std::vector<base::Descriptor> copies;
};

}  // namespace

Guardian::Guardian(Duty duty, const std::string& word, const std::vector<int>& files)
{
    if (!can_guard) return;
    std::array<int, 2> ends{};
    base::check_errno(::pipe2(ends.data(), O_CLOEXEC), "make a pipe");
    const base::Descriptor read_end = ends[0];
    pipe_ = ends[1];
    int code = 0;
    {
        SpawnSettings settings;
        settings.hand_over(read_end, guarded_pipe);
        int as = guarded_first;
        for (const int file : files) settings.hand_over(file, as++);
        // Standard streams are replaced, so that a reader of noisegen's output does not wait for the guardian.
        for (const int file : {0, 1, 2})
            posix_spawn_file_actions_addopen(&settings.files, file, "/dev/null", O_RDWR, 0);
        std::string program = guardian_name;  // a kill of noisegen by its name does not hit the guardian
        std::string mode{mode_of(duty)};
        std::string last = word;
        std::array<char*, 4> words{program.data(), mode.data(), last.data(), nullptr};
        code = posix_spawn(&process_, "/proc/self/exe", &settings.files, &settings.attributes, words.data(), environ);
    }
    if (code == 0) return;
    throw std::system_error{code, std::generic_category(), "cannot start the guardian of noisegen"};
}

Guardian::~Guardian()
{
    if (pipe_ < 0) return;
    // A stopped guardian would make us wait forever, so it is continued first. This happens before the pipe closes:
    // LeakSanitizer and debuggers stop an ending process, and a SIGCONT at that time would undo their SIGSTOP.
    ::kill(process_, SIGCONT);
    pipe_.close();
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

std::optional<Guardian::Duty> asked_to_guard(int argc, char** argv)
{
    can_guard = true;
    for (const Guardian::Duty duty :
         {Guardian::Duty::scratch, Guardian::Duty::pause, Guardian::Duty::job, Guardian::Duty::cores})
        if (argc == 3 && argv[1] == mode_of(duty)) {
            ::prctl(PR_SET_NAME, guardian_name);
            return duty;
        }
    return {};
}

bool wait_for_message(int pipe, std::int64_t until_ns)
{
    constexpr std::int64_t second_ns = 1'000'000'000;
    const std::int64_t left = std::max<std::int64_t>(0, until_ns - base::now_ns());
    const timespec patience{left / second_ns, left % second_ns};
    pollfd message{pipe, POLLIN, 0};
    return ::ppoll(&message, 1, &patience, nullptr) != 0;
}

}  // namespace noisegen
