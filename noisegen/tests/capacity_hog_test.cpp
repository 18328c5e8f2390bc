// SPDX-License-Identifier: Apache-2.0
// Memory that is allocated, kept and freed.
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/system/available.hpp"
#include "base/system/clock.hpp"
#include "base/system/cpus.hpp"
#include "base/system/launcher.hpp"
#include "noisegen/resources/budgets.hpp"
#include "noisegen/stressors/registry.hpp"
#include "testing/child.hpp"
#include "testing/resident_memory.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

namespace {

using testing::resident;

constexpr std::int64_t mib = 1 << 20;

base::Settings settings(const std::map<std::string, std::string>& options)
{
    return noisegen::stressors().settings(noisegen::stressors().find("capacity.hog"), options);
}

std::unique_ptr<noisegen::Stressor> make(const std::map<std::string, std::string>& options)
{
    return noisegen::stressors().find("capacity.hog").make(settings(options), {});
}

}  // namespace

TEST_CASE("a hog takes its memory in portions, keeps it and gives it back")
{
    const auto stressor = make({{"bytes", "65MiB"}, {"touch", "0"}});
    const std::int64_t before = resident();
    for (int turn = 0; turn < 2; ++turn) {
        CAPTURE(turn);
        CHECK(resident() < before + 8 * mib);
        stressor->begin({});
        CHECK(resident() < before + 8 * mib);
        std::uint64_t taken = 0;
        int portions = 0;
        while (taken < 65 * mib) {
            const noisegen::Work work = stressor->step();
            REQUIRE(work.bytes > 0);
            CHECK(work.bytes <= 4 * mib);
            taken += work.bytes;
            ++portions;
        }
        CHECK(taken == 65 * mib);
        CHECK(portions == 17);
        CHECK(resident() >= before + 60 * mib);
        const noisegen::Work kept = stressor->step();
        CHECK(kept.bytes == 0);
        CHECK(kept.rest_until_ns > base::now_ns());
        CHECK(resident() >= before + 60 * mib);
        stressor->end();
        CHECK(resident() < before + 8 * mib);
    }
}

TEST_CASE("a hog goes on touching what it has at the rate asked for")
{
    const auto stressor = make({{"bytes", "9MiB"}, {"touch", "1MiB/s"}});
    stressor->begin({});
    std::uint64_t taken = 0;
    while (taken < 9 * mib) taken += stressor->step().bytes;
    const std::int64_t before = base::now_ns();
    std::uint64_t again = 0;
    std::int64_t rest = 0;
    for (int portion = 0; portion < 3; ++portion) {
        const noisegen::Work work = stressor->step();
        again += work.bytes;
        rest = work.rest_until_ns;
    }
    CHECK(again == 9 * mib);
    CHECK(rest >= before + 4'000'000'000);  // 4 MiB at 1 MiB/s take 4 s
    stressor->end();
}

TEST_CASE("a share of what is available is settled at the start and asked for in the budget")
{
    const auto& card = noisegen::stressors().find("capacity.hog");
    const std::int64_t available = base::available_memory().count;
    const std::int64_t asked = card.needs(settings({{"bytes", "25%"}})).memory.count;
    // The bounds are wide, since other programs start and end in the meantime.
    CHECK(asked > available / 8);
    CHECK(asked < available / 2);
    const auto shared = card.share(settings({{"bytes", "1%"}}), {});
    noisegen::Place place;
    place.shared = shared.get();
    const auto first = card.make(settings({{"bytes", "1%"}}), place);
    const auto second = card.make(settings({{"bytes", "1%"}}), place);
    CHECK(first->note() == second->note());
}

TEST_CASE("a hog that cannot be is refused")
{
    const std::map<std::string, std::map<std::string, std::string>> refused{
        {"capacity.hog[bytes] must be at least 1MiB, such as 1GiB or 25%, not 1kB", {{"bytes", "1kB"}}},
        {"capacity.hog[bytes] must be at least 1MiB, such as 1GiB or 25%, not 0%", {{"bytes", "0%"}}},
        {"capacity.hog[bytes] must be at most 100%, not 101%", {{"bytes", "101%"}}},
        {"capacity.hog[touch] must be a rate in bytes, such as 256MiB/s, or 0, not 5/s", {{"touch", "5/s"}}},
    };
    for (const auto& [reported, options] : refused)
        CHECK_THROWS_WITH_AS(noisegen::stressors().find("capacity.hog").needs(settings(options)), reported.c_str(),
                             base::UsageError);
}

TEST_CASE("more than the budget allows is refused before it is taken")
{
    const testing::Scratch scratch;
    const std::string cpu = std::to_string(*base::allowed_cpus().rbegin());
    const testing::Outcome outcome =
        testing::run({CROSSTALK_BIN "/noisegen", "--schedule", "capacity.hog[bytes=90%] 1s", "--cpus", cpu,
                      "--duration", "1s", "--out", scratch / "run"});
    CHECK(outcome.status == 2);
    CHECK(outcome.err.find("--max-memory") != std::string::npos);
}

TEST_CASE("SIGTERM ends a hog that is still taking its memory")
{
    constexpr std::int64_t bytes = 1024 * mib;
    if (base::available_memory().count < 4 * bytes) {
        testing::skip("needs 4 GiB of memory available");
        return;
    }
    const testing::Scratch scratch;
    const std::string cpu = std::to_string(*base::allowed_cpus().rbegin());
    testing::Child child{{CROSSTALK_BIN "/noisegen", "--schedule", "capacity.hog[bytes=1GiB] 10min", "--cpus", cpu,
                          "--duration", "10min", "--out", scratch / "run"}};
    const auto noise = scratch / "run" / "noise" / (base::host_name() + ".0");
    REQUIRE(testing::eventually([&] { return testing::has_rows(noise / "samples.csv", 1); }));
    child.signal(SIGTERM);
    CHECK(child.wait() == 0);
    const base::CsvTable csv{noise / "noise.csv"};
    REQUIRE(csv.rows() == 1);
    CHECK(csv.get<std::int64_t>(0, "bytes") > 0);
    CHECK(std::filesystem::exists(noise / "trace/traces.otf2"));
}
