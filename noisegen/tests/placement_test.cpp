// Which CPUs make noise, and which of them runs what.
#include "noisegen/placement.hpp"

#include "base/error.hpp"
#include "noisegen/tests/child.hpp"

#include <doctest/doctest.h>

#include <unistd.h>

using noisegen::divide;
using noisegen::parse_schedule;

TEST_CASE("idle are the cores that nobody uses any part of")
{
    const std::vector<base::Core> cores{{.cpus = {0, 4}}, {.cpus = {1, 5}}, {.cpus = {2, 6}}, {.cpus = {3, 7}}};
    const base::CpuSet all{0, 1, 2, 3, 4, 5, 6, 7};
    CHECK(noisegen::idle_cpus(cores, all, {0, 5}) == base::CpuSet{2, 3, 6, 7});
    CHECK(noisegen::idle_cpus(cores, {0, 1, 2, 4, 5}, {0}) == base::CpuSet{1, 5});
    CHECK(noisegen::idle_cpus(cores, all, all).empty());
}

TEST_CASE("in a rotation every stressor runs on all noise CPUs")
{
    const auto schedule = parse_schedule("rotation(memory.stream, io.write, placebo, control.delay)");
    const auto runs = divide(schedule, {4, 5, 6});
    CHECK(runs[0] == std::vector<int>{4, 5, 6});
    CHECK(runs[1] == std::vector<int>{4, 5, 6});
    CHECK(runs[3] == std::vector<int>{4});
}

TEST_CASE("in a factorial every stressor has CPUs of its own")
{
    const auto schedule = parse_schedule("factorial(memory.stream, placebo, io.write)");
    const auto runs = divide(schedule, {4, 5, 6, 7, 8});
    CHECK(runs[0] == std::vector<int>{4, 5});
    CHECK(runs[2] == std::vector<int>{6, 7, 8});
    CHECK_THROWS_WITH_AS(divide(schedule, {4}), doctest::Contains("use rotation(...)"), base::UsageError);
}

TEST_CASE("noise processes of one host share its CPUs without overlap")
{
    const base::CpuSet cpus{2, 3, 4, 5, 6};
    base::CpuSet all;
    std::size_t sum = 0;
    for (int rank = 0; rank < 3; ++rank) {
        const base::CpuSet part = noisegen::part_of(cpus, {rank, 3});
        CHECK(!part.empty());
        sum += part.size();
        all.insert(part.begin(), part.end());
    }
    CHECK(all == cpus);
    CHECK(sum == cpus.size());
    CHECK_THROWS_AS(noisegen::part_of({1, 2}, {0, 3}), base::UsageError);
}

TEST_CASE("avoid takes CPU lists and processes")
{
    CHECK(noisegen::parse_avoid({"0"}).cpus == base::CpuSet{0});
    const noisegen::Avoid avoid = noisegen::parse_avoid({"pid:" + std::to_string(::getpid())});
    CHECK(avoid.processes == std::vector<pid_t>{::getpid()});
    CHECK_THROWS_AS(noisegen::parse_avoid({"pid:x"}), base::UsageError);
    CHECK_THROWS_AS(noisegen::parse_avoid({"pid:999999999"}), base::UsageError);
    CHECK_THROWS_AS(noisegen::parse_avoid({"0-99999"}), base::UsageError);
    CHECK_THROWS_AS(noisegen::parse_avoid({"training"}), base::UsageError);
}

TEST_CASE("neighbours are found with their descendants and the CPUs they are bound to")
{
    const std::string cpu = std::to_string(*base::allowed_cpus().rbegin());
    const testing::Child shell{{"sh", "-c", "taskset -c " + cpu + " sleep 60; true"}};
    const noisegen::Avoid avoid{.cpus = {}, .processes = {shell.pid()}};
    const auto sleeper = [&]() -> std::optional<noisegen::Neighbour> {
        for (const noisegen::Neighbour& neighbour : noisegen::neighbours(avoid))
            if (neighbour.name == "sleep") return neighbour;
        return {};
    };
    REQUIRE(testing::eventually([&] { return sleeper().has_value(); }));
    const noisegen::Neighbour found = *sleeper();
    CHECK(found.cpus == base::parse_cpus(cpu));
    ::kill(found.pid, SIGTERM);
}
