// SPDX-License-Identifier: Apache-2.0
#include "base/system/environment.hpp"

#include "base/error.hpp"
#include "base/units.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace base {

std::optional<std::string> environment(const char* name)
{
    const char* text = std::getenv(name);
    if (text == nullptr || *text == '\0') return {};
    return text;
}

std::optional<int> environment_number(const char* name)
{
    const std::optional<std::string> text = environment(name);
    if (!text) return {};
    try {
        return parse<int>(*text);
    } catch (const UsageError&) {
        return {};
    }
}

namespace {

std::mutex one_at_a_time;
int stderr_of_silenced = -1;  // valid while a Silence object lives

// A library may print its error and call exit(): its last line is the reason, and must be printed.
void print_last_line()
{
    if (stderr_of_silenced < 0) return;
    std::fflush(stderr);
    std::array<char, 4096> tail{};
    const off_t end = ::lseek(STDERR_FILENO, 0, SEEK_END);
    const ssize_t got =
        ::pread(STDERR_FILENO, tail.data(), tail.size(), std::max<off_t>(0, end - static_cast<off_t>(tail.size())));
    if (got <= 0) return;
    std::string_view text{tail.data(), static_cast<std::size_t>(got)};
    while (text.ends_with('\n')) text.remove_suffix(1);
    const std::string line{text.substr(text.rfind('\n') + 1)};
    static_cast<void>(!::write(stderr_of_silenced, (line + "\n").c_str(), line.size() + 1));
}

}  // namespace

Silence::Silence() : alone_{one_at_a_time}
{
    static const int registered = std::atexit(print_last_line);
    static_cast<void>(registered);
    std::fflush(stderr);
    stderr_was_ = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (stderr_was_ < 0) return;
    const Descriptor kept = ::memfd_create("silenced", MFD_CLOEXEC);
    if (kept >= 0) ::dup2(kept, STDERR_FILENO);
    stderr_of_silenced = stderr_was_;
}

Silence::~Silence()
{
    if (stderr_was_ < 0) return;
    std::fflush(stderr);
    stderr_of_silenced = -1;
    ::dup2(stderr_was_, STDERR_FILENO);
}

}  // namespace base
