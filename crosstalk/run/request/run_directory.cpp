// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/run/request/run_directory.hpp"

#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/files.hpp"

#include <cerrno>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace crosstalk {

namespace fs = std::filesystem;

namespace {

std::string name(int number)
{
    return base::join("crosstalk-", number);
}

fs::path lock_of(const fs::path& run)
{
    return run / base::part::log / "lock";
}

void refuse_taken(const Request& request)
{
    for (const char* part : {base::part::train, base::part::noise}) base::refuse_taken(request.out / part);
    if (request.whole == request.out) base::refuse_taken(request.out / base::part::report);
}

}  // namespace

FreeDirectory::FreeDirectory()
{
    for (int number = 1; path_.empty(); ++number) {
        std::error_code code;
        if (fs::create_directory(name(number), code)) path_ = fs::absolute(name(number));
        if (code && code != std::errc::file_exists)
            base::fail("cannot create ", name(number), ": ", code.message(), "; give another directory with --out");
    }
}

FreeDirectory::~FreeDirectory()
{
    std::error_code ignored;
    fs::remove(path_, ignored);
}

fs::path FreeDirectory::seen()
{
    int number = 1;
    while (fs::exists(name(number))) ++number;
    return name(number);
}

fs::path standard_input()
{
    struct stat found {};
    if (::fstat(STDIN_FILENO, &found) != 0 || S_ISCHR(found.st_mode)) return {};
    std::error_code unknown;
    const fs::path file = fs::read_symlink("/proc/self/fd/0", unknown);
    return S_ISREG(found.st_mode) && fs::exists(file, unknown) ? file : "-";
}

bool is_being_written(const fs::path& run)
{
    const base::Descriptor lock{::open(lock_of(run).c_str(), O_RDWR | O_CLOEXEC)};
    return lock >= 0 && ::flock(lock, LOCK_EX | LOCK_NB) != 0;
}

base::Descriptor claim_directory(const Request& request)
{
    base::refuse_foreign(request.out);
    refuse_taken(request);
    fs::create_directories(request.out / base::part::log);
    const fs::path file = lock_of(request.out);
    base::Descriptor lock{
        base::check_errno(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644), "open ", file.string())};
    if (::flock(lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        base::fail_usage("another crosstalk run writes into ", request.out.string(), ": give another --out");
    refuse_taken(request);  // another run may have ended since
    return lock;
}

}  // namespace crosstalk
