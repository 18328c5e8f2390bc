#include "base/gnuplot.hpp"

#include <array>
#include <cerrno>
#include <iostream>
#include <string>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

extern char** environ;

namespace base {

bool run_gnuplot(const std::string& program, const std::filesystem::path& folder, const std::string& name)
{
    std::string gnuplot = "gnuplot";
    std::string script = name + ".gp";
    const std::array<char*, 3> arguments{gnuplot.data(), script.data(), nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    pid_t child = 0;
    const int code = posix_spawnp(&child, gnuplot.c_str(), &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    int status = -1;
    if (code == 0)
        while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
    std::error_code ignored;
    const bool drawn = code == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0 &&
                       std::filesystem::exists(folder / (name + ".svg"), ignored);
    if (!drawn)
        std::cerr << program << ": no " << name
                  << ".svg: " << (code == 0 ? "gnuplot failed on " : "gnuplot is not there; ") << script
                  << (code == 0 ? "" : " is ready for it") << "\n";
    return drawn;
}

std::string gnuplot_text(const std::string& text)
{
    std::string plain;
    for (const char c : text) {
        if (c == '\'')
            plain += "''";
        else if (static_cast<unsigned char>(c) < 0x20)
            plain += ' ';
        else
            plain += c;
    }
    return "'" + plain + "'";
}

}  // namespace base
