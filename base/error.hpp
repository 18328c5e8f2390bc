// SPDX-License-Identifier: Apache-2.0
// Kinds of failure and their exit codes. One catch (...) in main() reports them all.
#pragma once

#include "base/words.hpp"

#include <cerrno>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>

namespace base {

// Exit codes of all programs.
enum ExitCode : int {
    exit_fine = 0,
    exit_failed = 1,
    exit_usage = 2,
    exit_promise_not_kept = 3,  // the program ran, but missed a rate, or noise did not cover the training
    exit_unavailable = 77       // the request is not possible on this machine
};

// The message is made fit for a terminal: one line of at most 400 bytes, escaped by printable() and, if too long,
// shortened in the middle by shortened().
struct Error : std::runtime_error {
    explicit Error(const std::string& text);
};

// The user asked for something impossible or contradictory: exit code 2.
struct UsageError : Error {
    using Error::Error;
};

// This machine lacks what was asked for: exit code 77.
struct Unavailable : Error {
    using Error::Error;
};

// A signal asked the program to end. This is not a failure: after cleaning up, the program ends by that signal.
struct Interrupted {
    int signal = 0;
};

template <class... Parts>
[[noreturn]] void fail(const Parts&... parts)
{
    throw Error{join(parts...)};
}

template <class... Parts>
[[noreturn]] void fail_usage(const Parts&... parts)
{
    throw UsageError{join(parts...)};
}

template <class... Parts>
[[noreturn]] void unavailable(const Parts&... parts)
{
    throw Unavailable{join(parts...)};
}

// For calls that set errno. check_errno(::ftruncate(fd, size), "resize ", path) throws std::system_error if the result
// is negative; otherwise it returns the result.
template <class Result, class... Parts>
Result check_errno(Result result, const Parts&... parts)
{
    if (result < 0) {
        const int code = errno;
        throw std::system_error{code, std::generic_category(), join("cannot ", parts...)};
    }
    return result;
}

// Prints one line on stderr: "program: text", with the file name of this program. Characters that would disturb a
// terminal are escaped.
void warn_line(const std::string& text) noexcept;

template <class... Parts>
void warn(const Parts&... parts)
{
    warn_line(join(parts...));
}

// Flushes stdout, both of streams and of printf. Throws Error if the output could not be written.
void flush_stdout();

// Call it in main's catch (...): prints "program: why" as one line on stderr and returns the exit code.
int report_failure(const char* program) noexcept;

}  // namespace base
