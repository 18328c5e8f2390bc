// SPDX-License-Identifier: Apache-2.0
#include "base/columns/scratch_pages.hpp"

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/system/temporary_directory.hpp"

#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#include <unistd.h>

namespace base::scratch {

namespace {

struct Pages {
    std::mutex mutex;  // guards the members below; each page has a single owner
    Descriptor file;
    ::pid_t owner = 0;
    std::uint32_t count = 0;
    std::vector<std::uint32_t> free;
};

// Never destroyed: columns may live as long as the program.
Pages& pages()
{
    static Pages& all = *new Pages;
    return all;
}

std::string directory()
{
    const char* named = std::getenv("TMPDIR");
    return named != nullptr && *named != '\0' ? named : "/var/tmp";
}

::off_t place(std::uint32_t page)
{
    return static_cast<::off_t>(page) * static_cast<::off_t>(page_bytes);
}

}  // namespace

std::uint32_t new_page()
{
    Pages& all = pages();
    const std::lock_guard lock{all.mutex};
    if (all.owner != ::getpid()) {
        all.file = unnamed_file(directory());
        all.owner = ::getpid();
        all.count = 0;
        all.free.clear();
    }
    if (all.free.empty()) return all.count++;
    const std::uint32_t page = all.free.back();
    all.free.pop_back();
    return page;
}

void write_page(std::uint32_t page, const void* bytes)
{
    const auto written =
        check_errno(::pwrite(pages().file, bytes, page_bytes, place(page)), "write a scratch file in ", directory());
    if (static_cast<std::size_t>(written) != page_bytes)
        fail("cannot write a scratch file in ", directory(), ": the disk is full (TMPDIR names another directory)");
}

void read_page(std::uint32_t page, void* bytes)
{
    const auto read = check_errno(::pread(pages().file, bytes, page_bytes, place(page)), "read a scratch file");
    if (static_cast<std::size_t>(read) != page_bytes) fail("a scratch file in ", directory(), " was cut off");
}

void free_page(std::uint32_t page) noexcept
try {
    Pages& all = pages();
    const std::lock_guard lock{all.mutex};
    all.free.push_back(page);
} catch (...) {  // the page is lost until the process ends
}

}  // namespace base::scratch
