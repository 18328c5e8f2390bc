#include "base/gnuplot.hpp"

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/words.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <iostream>
#include <optional>
#include <string>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

extern char** environ;

namespace base {

namespace {

// Its wait status; none if it had to be killed because it took longer than `patience`.
std::optional<int> wait_for(pid_t child, Nanoseconds patience)
{
    constexpr std::int64_t look_again_ns = 10'000'000;
    const std::int64_t deadline = now_ns() + patience.count();
    int status = -1;
    while (true) {
        const pid_t ended = ::waitpid(child, &status, WNOHANG);
        if (ended == child || (ended < 0 && errno != EINTR)) return status;
        if (now_ns() >= deadline) break;
        sleep_until_ns(now_ns() + look_again_ns);
    }
    ::kill(child, SIGKILL);
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return std::nullopt;
}

// One plain string, whatever is in it.
std::string quoted(const std::string& text)
{
    std::string plain;
    for (const char c : text) {
        if (c == '\'')
            plain += "''";
        else
            plain += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return "'" + plain + "'";
}

std::string array(const std::string& name, const std::vector<std::string>& values)
{
    const std::size_t size = std::max<std::size_t>(values.size(), 1);
    return join("array ", name, "[", size, "] = [", join_words(values, ", "), "]\n");
}

}  // namespace

bool run_gnuplot(const std::string& program, const std::filesystem::path& folder, const std::string& name,
                 Nanoseconds patience)
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
    const std::optional<int> status = code == 0 ? wait_for(child, patience) : std::nullopt;
    const std::filesystem::path picture = folder / (name + ".svg");
    std::error_code ignored;
    if (status && WIFEXITED(*status) && WEXITSTATUS(*status) == 0 && std::filesystem::exists(picture, ignored))
        return true;
    std::filesystem::remove(picture, ignored);  // half a picture is none
    const std::string& plot = script;
    const std::string why = code != 0 ? "gnuplot is not there; " + plot + " is ready for it"
                            : status  ? "gnuplot failed on " + plot
                                      : "gnuplot took longer than " + format(patience) + " on " + plot;
    std::cerr << program << ": no " << name << ".svg: " << why << "\n";
    return false;
}

void GnuplotVariables::set(const std::string& name, const std::vector<double>& values)
{
    std::vector<std::string> words;
    for (const double value : values) words.push_back(join(value));
    text_ << array(name, words);
}

void GnuplotVariables::set(const std::string& name, const std::vector<std::string>& texts)
{
    std::vector<std::string> words;
    for (const std::string& text : texts) words.push_back(quoted(text));
    text_ << array(name, words);
}

bool draw(const std::string& program, const std::filesystem::path& folder, const std::string& name,
          const GnuplotVariables& variables, std::string_view script)
{
    write_whole(folder / (name + ".gp"), join("# Made by ", program, "; run again with: gnuplot ", name, ".gp\n",
                                              variables.text(), "\n", script));
    return run_gnuplot(program, folder, name);
}

std::string gnuplot_tic(const std::string& text)
{
    std::string format;
    for (const char c : text) format += c == '%' ? "%%" : std::string{c};
    return format;
}

}  // namespace base
