// SPDX-License-Identifier: Apache-2.0
#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/system/environment.hpp"
#include "base/words.hpp"
#include "crosstalk/cli/commands.hpp"
#include "crosstalk/programs/programs.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <unistd.h>

namespace crosstalk {

namespace {

namespace fs = std::filesystem;

constexpr int most_port = 65535;

// The page in the directory or below it.
fs::path page_in(const fs::path& directory)
{
    if (!fs::is_directory(directory)) base::fail("there is no directory ", directory.string());
    for (const fs::path& page : {fs::path{base::part::report} / "index.html", fs::path{"index.html"}})
        if (fs::is_regular_file(directory / page)) return page;
    base::fail(directory.string(), " has no page: neither report/index.html nor index.html (interference analyse ",
               base::shell_word(directory.string()), " makes the report of a run)");
}

bool has_display()
{
    const auto is_set = [](const char* name) { return !base::environment(name).value_or("").empty(); };
    return (is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")) && found_on_path("xdg-open");
}

// Replaces this process by the server, so that signals reach the server.
[[noreturn]] void serve(const fs::path& directory, const fs::path& page, int port)
{
    const std::string python = base::environment("PYTHON").value_or("python3");
    if (!found_on_path(python)) base::unavailable("no '", python, "' on PATH, which serves the page: install python3");
    Words words{python, script("serve.py").string(), directory.string(), page.string(), std::to_string(port)};
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::execvp(arguments.front(), arguments.data());
    base::fail("cannot start ", python, ": ", std::strerror(errno));
}

}  // namespace

ViewCommand::ViewCommand()
    : Command{"crosstalk view", "opens the page of a run, set, campaign or report, or serves it to this machine only"}
{
    options.add_positional("DIR", directory_, "directory with report/index.html or index.html");
    options.add("port", port_, "port of 127.0.0.1 at which to serve the page; 0: any free port", "NUMBER");
    options.add_switch("serve", serve_, "serve the page even if there is a display");
    options.example("crosstalk view DIR");
    options.example("ssh -L 8000:127.0.0.1:8000 node crosstalk view DIR --port 8000");
    options.epilogue(
        "With a display, xdg-open shows the page. Without one, the page and all files below DIR are served at "
        "127.0.0.1, read only, until Ctrl-C; the printed address contains a key, without which nothing is served. "
        "Exit codes: 0 shown, 1 there is no page, or the port is in use, 2 wrong usage, 77 no python3 to serve it.");
}

int ViewCommand::run()
{
    if (port_ < 0 || port_ > most_port) base::fail_usage("--port must be from 0 to ", most_port);
    const fs::path page = page_in(directory_);
    if (!serve_ && !options.given("port") && has_display()) {
        const fs::path file = fs::canonical(fs::path{directory_} / page);
        const auto browser =
            start({.words = {"xdg-open", file.string()}, .folder = {}, .output = {}, .errors = {}}, {});
        if (wait_for(*browser) == base::exit_fine) return base::exit_fine;
        base::warn("xdg-open could not show the page");
    }
    serve(directory_, page, port_);
}

}  // namespace crosstalk
