// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/transports/progress.hpp"

#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <fstream>

namespace {

constexpr std::int64_t ms = 1'000'000;

// The kernel's format: microseconds since boot in which some threads waited, and in which all of them waited.
void write_pressure(const std::filesystem::path& file, std::int64_t waited_us)
{
    std::ofstream{file} << "some avg10=0.00 avg60=0.00 avg300=0.00 total=" << waited_us
                        << "\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=77\n";
}

}  // namespace

TEST_CASE("rests grow with the wait, within bounds")
{
    CHECK(ddl::rest_after(0) == 25'000);
    CHECK(ddl::rest_after(1 * ms) == 125'000);
    CHECK(ddl::rest_after(60'000 * ms) == 500'000);
}

TEST_CASE("CPUs are in demand where threads waited for them more than a tenth of the time since the last look")
{
    const testing::Scratch scratch;
    const std::filesystem::path file = scratch / "cpu";
    write_pressure(file, 5'000'000);
    ddl::CpuDemand demand{file.c_str()};
    CHECK_FALSE(demand.exceeds(1'000 * ms));
    write_pressure(file, 5'000'220);  // less than 2 ms after the previous look
    CHECK(demand.exceeds(1'002 * ms));
    write_pressure(file, 5'000'220 + 180);
    CHECK_FALSE(demand.exceeds(1'004 * ms));
}

TEST_CASE("the demand for CPUs is looked at once a millisecond at most")
{
    const testing::Scratch scratch;
    const std::filesystem::path file = scratch / "cpu";
    write_pressure(file, 0);
    ddl::CpuDemand demand{file.c_str()};
    CHECK_FALSE(demand.exceeds(1'000 * ms));
    write_pressure(file, 900);
    CHECK_FALSE(demand.exceeds(1'000 * ms + ms / 2));
    CHECK(demand.exceeds(1'001 * ms));
}

TEST_CASE("a kernel that does not say how long threads wait for CPUs is taken to have them in demand")
{
    const testing::Scratch scratch;
    CHECK(ddl::CpuDemand{(scratch / "none").c_str()}.exceeds(1'000 * ms));
    std::ofstream{scratch / "other"} << "some words\n";
    CHECK(ddl::CpuDemand{(scratch / "other").c_str()}.exceeds(1'000 * ms));
}
