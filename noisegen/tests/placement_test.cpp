// Which CPUs make noise, and which of them runs what.
#include "noisegen/placement.hpp"

#include "base/error.hpp"
#include "base/tests/environment.hpp"
#include "noisegen/tests/child.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include <unistd.h>

using noisegen::divide;
using noisegen::parse_schedule;

namespace {

// Siblings are numbered far apart, as on most servers.
const std::vector<base::Core> three_cores{{.cpus = {2, 66}}, {.cpus = {3, 67}}, {.cpus = {4, 68}}};

}  // namespace

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
    const auto runs = divide(schedule, three_cores);
    CHECK(runs[0] == std::vector<int>{2, 3, 4, 66, 67, 68});
    CHECK(runs[1] == runs[0]);
    CHECK(runs[3] == std::vector<int>{2});
}

TEST_CASE("in a factorial every stressor has cores of its own")
{
    const auto runs = divide(parse_schedule("factorial(cpu.spin, memory.stream, placebo, io.write)"), three_cores);
    CHECK(runs[0] == std::vector<int>{2, 66});
    CHECK(runs[1] == std::vector<int>{3, 67});
    CHECK(runs[2] == std::vector<int>{2});
    CHECK(runs[3] == std::vector<int>{4, 68});
    const auto two = divide(parse_schedule("factorial(cpu.spin, io.write)"), three_cores);
    CHECK(two[0] == std::vector<int>{2, 66});
    CHECK(two[1] == std::vector<int>{3, 4, 67, 68});
}

TEST_CASE("two factors of one stressor have cores of their own too")
{
    const auto runs = divide(parse_schedule("factorial(a=memory.stream, b=memory.stream)"), three_cores);
    REQUIRE(runs.size() == 2);
    CHECK(runs[0] == std::vector<int>{2, 66});
    CHECK(runs[1] == std::vector<int>{3, 4, 67, 68});
}

TEST_CASE("siblings are one core and not enough for a factorial of two")
{
    const auto schedule = parse_schedule("factorial(memory.stream, io.write)");
    const std::vector<base::Core> one{{.cpus = {2, 66}}};
    CHECK_THROWS_WITH_AS(divide(schedule, one), doctest::Contains("there are 1 (CPUs 2,66); use rotation(...)"),
                         base::UsageError);
}

TEST_CASE("noise processes of one host have cores of their own")
{
    CHECK(noisegen::own_part(three_cores, {0, 3}, false) == base::CpuSet{2, 66});
    CHECK(noisegen::own_part(three_cores, {2, 3}, false) == base::CpuSet{4, 68});
    CHECK(noisegen::own_part(three_cores, {1, 2}, false) == base::CpuSet{3, 4, 67, 68});
    CHECK_THROWS_WITH_AS(noisegen::own_part(three_cores, {0, 4}, false), doctest::Contains("--share"),
                         base::UsageError);
    CHECK(noisegen::own_part(three_cores, {0, 4}, true) == base::CpuSet{2});
    CHECK(noisegen::own_part(three_cores, {0, 7}, true) == base::cpus_of(three_cores));
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
        for (const noisegen::Neighbour& neighbour : noisegen::neighbours(avoid, base::allowed_cpus()))
            if (neighbour.name == "sleep") return neighbour;
        return {};
    };
    REQUIRE(testing::eventually([&] { return sleeper().has_value(); }));
    const noisegen::Neighbour found = *sleeper();
    CHECK(found.cpus == base::parse_cpus(cpu));
    ::kill(found.pid, SIGTERM);
}

TEST_CASE("of the same Slurm job those are neighbours that are bound to less than was allowed")
{
    const testing::Environment slurm{{{"SLURM_JOB_ID", "test-" + std::to_string(::getpid())}}};
    const int cpu = *base::allowed_cpus().rbegin();
    const testing::Child bound{{"taskset", "-c", std::to_string(cpu), "sleep", "60"}};
    const auto found = [&](const base::CpuSet& allowed) {
        const auto all = noisegen::neighbours({}, allowed);
        return std::any_of(all.begin(), all.end(), [&](const noisegen::Neighbour& neighbour) {
            return neighbour.pid == bound.pid() && neighbour.name == "sleep";
        });
    };
    // This process may be bound to that CPU itself by now: what counts is what it might have used.
    CHECK(testing::eventually([&] { return found({cpu, cpu + 1}); }));
    CHECK(!found({cpu}));
}
