// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <new>

namespace base {

namespace {

constexpr std::size_t longest_text = 400;  // two paths and a sentence; a quoted text may be a whole file
constexpr std::size_t longest_line = 200;  // limit for a terminal line, including the program's name

// Removes nlohmann's tag from "[json.exception.parse_error.101] parse error at ..": users cannot do anything with it.
std::string without_library_tag(std::string text)
{
    const std::size_t begin = text.find("[json.exception.");
    const std::size_t end = begin == std::string::npos ? begin : text.find("] ", begin);
    if (end != std::string::npos) text.erase(begin, end + 2 - begin);
    return text;
}

std::string shown(std::string_view text, std::size_t most = longest_text)
{
    return shortened(printable(without_library_tag(std::string{text})), most);
}

int print(const char* program, std::string message, int code) noexcept
{
    std::replace(message.begin(), message.end(), '\n', ' ');
    const std::size_t rest = longest_line - std::strlen(program) - std::strlen(": ");
    std::fprintf(stderr, "%s: %s\n", program, shown(message, rest).c_str());
    return code;
}

}  // namespace

Error::Error(const std::string& text) : std::runtime_error{shown(text)} {}

void flush_stdout()
{
    const bool streams = static_cast<bool>(std::cout.flush());
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0 || !streams) fail("cannot write to stdout");
}

void warn_line(const std::string& text) noexcept
{
    // One write for the line, since ranks and threads share stderr.
    const std::string line = std::string{program_invocation_short_name} + ": " + printable(text) + "\n";
    std::fwrite(line.data(), 1, line.size(), stderr);
}

int report_failure(const char* program) noexcept
try {
    throw;
} catch (const Interrupted& by) {
    std::signal(by.signal, SIG_DFL);
    std::raise(by.signal);
    return exit_failed;
} catch (const UsageError& error) {
    return print(program, error.what(), exit_usage);
} catch (const Unavailable& error) {
    return print(program, error.what(), exit_unavailable);
} catch (const std::bad_alloc&) {
    return print(program, "out of memory", exit_failed);
} catch (const std::filesystem::filesystem_error& error) {
    return print(program, join("cannot use ", error.path1().string(), ": ", error.code().message()), exit_failed);
} catch (const std::system_error& error) {
    // Our exceptions say what failed; those of std::thread and std::mutex do not.
    const bool bare =
        error.what() == error.code().message() && error.code() == std::errc::resource_unavailable_try_again;
    return print(program, bare ? "cannot start a thread (ulimit -u, pids.max of the cgroup)" : error.what(),
                 exit_failed);
} catch (const std::exception& error) {
    return print(program, error.what(), exit_failed);
} catch (...) {
    return print(program, "failed for an unknown reason", exit_failed);
}

}  // namespace base
