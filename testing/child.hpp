// A program that runs while the test looks on.
#pragma once

#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "testing/testing.hpp"

#include <csignal>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

extern char** environ;

namespace testing {

class Child {
 public:
    explicit Child(const std::vector<std::string>& words)
    {
        std::vector<char*> arguments;
        for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
        arguments.push_back(nullptr);
        const std::string out = scratch_ / "out";
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
        posix_spawn_file_actions_adddup2(&actions, 1, 2);
        const int code = posix_spawnp(&pid_, arguments[0], &actions, nullptr, arguments.data(), environ);
        posix_spawn_file_actions_destroy(&actions);
        if (code != 0) throw std::runtime_error{"cannot run " + words.at(0)};
    }
    ~Child()
    {
        if (pid_ == 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    pid_t pid() const { return pid_; }
    void signal(int number) const { ::kill(pid_, number); }

    // Exit code, or 128 + signal.
    int wait()
    {
        int status = 0;
        ::waitpid(pid_, &status, 0);
        pid_ = 0;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }

    std::string output() const { return base::read_whole(scratch_ / "out"); }

 private:
    Scratch scratch_;
    pid_t pid_ = 0;
};

// Waits for it, at most 30 s.
inline bool eventually(const std::function<bool()>& holds)
{
    for (int tries = 0; tries < 3000; ++tries) {
        if (holds()) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
    return false;
}

// Has the CSV that a program is writing so many rows yet?
inline bool has_rows(const std::filesystem::path& csv, std::size_t rows)
try {
    return std::filesystem::exists(csv) && base::CsvTable{csv}.rows() >= rows;
} catch (const base::Error&) {  // its first line is on its way
    return false;
}

}  // namespace testing
