#include "base/error.hpp"

#include "base/words.hpp"

#include <algorithm>
#include <cstdio>
#include <new>

namespace base {

namespace {

int print(const char* program, std::string message, int code) noexcept
{
    std::replace(message.begin(), message.end(), '\n', ' ');
    std::fprintf(stderr, "%s: %s\n", program, printable(message).c_str());
    return code;
}

}  // namespace

Error::Error(const std::string& text) : std::runtime_error{printable(text)} {}

int report_failure(const char* program) noexcept
try {
    throw;
} catch (const UsageError& error) {
    return print(program, error.what(), exit_usage);
} catch (const Unavailable& error) {
    return print(program, error.what(), exit_unavailable);
} catch (const std::bad_alloc&) {
    return print(program, "out of memory", exit_failed);
} catch (const std::exception& error) {
    return print(program, error.what(), exit_failed);
} catch (...) {
    return print(program, "failed for an unknown reason", exit_failed);
}

}  // namespace base
