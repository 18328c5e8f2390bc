#include "base/system/environment.hpp"

#include "base/error.hpp"
#include "base/units.hpp"

#include <cstdio>
#include <cstdlib>

#include <fcntl.h>
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

}  // namespace

Silence::Silence() : alone_{one_at_a_time}
{
    std::fflush(stderr);
    stderr_was_ = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (stderr_was_ < 0) return;
    const Descriptor nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0) ::dup2(nowhere, STDERR_FILENO);
}

Silence::~Silence()
{
    if (stderr_was_ < 0) return;
    std::fflush(stderr);
    ::dup2(stderr_was_, STDERR_FILENO);
}

}  // namespace base
