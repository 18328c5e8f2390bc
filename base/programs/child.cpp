// SPDX-License-Identifier: Apache-2.0
#include "base/programs/child.hpp"

#include "base/error.hpp"
#include "base/system/clock.hpp"

#include <cerrno>
#include <csignal>
#include <system_error>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

extern char** environ;

namespace base {

namespace {

class FileActions {
 public:
    explicit FileActions(const Launch& launch)
    {
        posix_spawn_file_actions_init(&actions_);
        if (!launch.folder.empty()) posix_spawn_file_actions_addchdir_np(&actions_, launch.folder.c_str());
        if (!launch.input.empty()) posix_spawn_file_actions_addopen(&actions_, 0, launch.input.c_str(), O_RDONLY, 0);
        write_to(1, launch.output);
        if (!launch.errors.empty() && launch.errors == launch.output)
            posix_spawn_file_actions_adddup2(&actions_, 1, 2);
        else
            write_to(2, launch.errors);
    }
    ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
    FileActions(const FileActions&) = delete;
    FileActions& operator=(const FileActions&) = delete;

    const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
    void write_to(int stream, const std::filesystem::path& file)
    {
        if (!file.empty())
            posix_spawn_file_actions_addopen(&actions_, stream, file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    }

    posix_spawn_file_actions_t actions_{};
};

int exit_code(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

Child::Child(const Launch& launch)
{
    std::vector<char*> arguments;
    for (const std::string& word : launch.words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    const int code =
        posix_spawnp(&pid_, arguments.at(0), FileActions{launch}.get(), nullptr, arguments.data(), environ);
    if (code != 0) throw std::system_error{code, std::generic_category(), "cannot run " + launch.words.at(0)};
}

Child::~Child()
{
    if (pid_ == 0) return;
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

void Child::signal(int number) const
{
    if (pid_ != 0) ::kill(pid_, number);
}

int Child::wait()
{
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0)
        if (errno != EINTR) check_errno(-1, "wait for process ", pid_);
    pid_ = 0;
    return exit_code(status);
}

std::optional<int> Child::wait(Nanoseconds patience)
{
    constexpr std::int64_t look_again_ns = 10'000'000;
    const std::int64_t deadline = now_ns() + patience.count();
    while (true) {
        int status = 0;
        const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
        if (ended < 0 && errno != EINTR) check_errno(-1, "wait for process ", pid_);
        if (ended == pid_) {
            pid_ = 0;
            return exit_code(status);
        }
        if (now_ns() >= deadline) return std::nullopt;
        sleep_until_ns(now_ns() + look_again_ns);
    }
}

}  // namespace base
