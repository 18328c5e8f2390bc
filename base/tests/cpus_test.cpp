// CPU lists, topology and binding.
#include "base/cpus.hpp"

#include "base/error.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <thread>

#include <unistd.h>

using namespace base;

TEST_CASE("CPU lists are read and written as the kernel writes them")
{
    CHECK(parse_cpus("0-3,8") == CpuSet{0, 1, 2, 3, 8});
    CHECK(format_cpus({0, 1, 2, 3, 8, 10, 11}) == "0-3,8,10-11");
    for (const char* text : {"", "a", "3-1", "-1", "1-", "0,,1", "70000", "1;2"}) {
        CAPTURE(text);
        CHECK_THROWS_AS(parse_cpus(text), UsageError);
    }
}

TEST_CASE("CPUs that do not exist are refused by number")
{
    CHECK_THROWS_WITH_AS(check_cpus({65000}),
                         ("CPU 65000 does not exist; there are " + format_cpus(allowed_cpus())).c_str(), UsageError);
    CHECK_NOTHROW(check_cpus(allowed_cpus()));
}

TEST_CASE("a bound thread runs where it was told")
{
    const int cpu = *allowed_cpus().rbegin();
    CpuSet seen;
    std::thread{[&] {
        bind_this_thread({cpu});
        seen = affinity_of(0);
    }}.join();
    CHECK(seen == CpuSet{cpu});
}

TEST_CASE("the physical cores hold every allowed CPU once")
{
    CpuSet all;
    std::size_t count = 0;
    for (const Core& core : physical_cores(allowed_cpus())) {
        all.insert(core.cpus.begin(), core.cpus.end());
        count += core.cpus.size();
    }
    CHECK(all == allowed_cpus());
    CHECK(count == all.size());
}

TEST_CASE("this thread is among the threads of this process")
{
    const std::vector<pid_t> threads = threads_of_this_process();
    CHECK(std::find(threads.begin(), threads.end(), ::getpid()) != threads.end());
}
