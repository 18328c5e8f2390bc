// SPDX-License-Identifier: Apache-2.0
// Pressure: from slowdowns with known answers, and of a real program and a real victim.
#include "noisegen/measure/pressure.hpp"

#include "base/random.hpp"
#include "base/statistics.hpp"
#include "base/system/cpus.hpp"
#include "testing/child.hpp"
#include "testing/noise_runs.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <numbers>

namespace {

using noisegen::Pressure;
using noisegen::Slowdowns;
using testing::Outcome;
using testing::Scratch;

// Slowdowns of at least two blocks with this mean; they differ by `spread`, which sums to zero.
std::vector<double> about(double mean, const std::vector<double>& spread)
{
    std::vector<double> values;
    for (const double off : spread) values.push_back(mean + off);
    return values;
}

const std::vector<double> hardly{-0.01, 0.0, 0.01};

double normal(base::Random& random)
{
    const double radius = std::sqrt(-2.0 * std::log(1.0 - base::draw_unit(random)));
    return radius * std::cos(2.0 * std::numbers::pi * base::draw_unit(random));
}

}  // namespace

TEST_CASE("a program that hurts half as much as the second of two levels stands where the curve says")
{
    // 4 % at 100 and 12 % at 200: 6 % is a quarter of the way between them.
    const Pressure found = noisegen::pressure({.program = about(6.0, hardly),
                                               .levels = {100.0, 200.0},
                                               .by_level = {about(4.0, hardly), about(12.0, hardly)}});
    REQUIRE(found.level);
    CHECK(*found.level == doctest::Approx(125.0));
    CHECK(found.felt);
    REQUIRE(found.high);
    CHECK(found.low <= 125.0);
    CHECK(*found.high >= 125.0);
    CHECK(*found.high - found.low < 2.0);
}

TEST_CASE("a program that hurts more than every level has no level, and no upper end")
{
    const Pressure found = noisegen::pressure({.program = about(20.0, hardly),
                                               .levels = {100.0, 200.0},
                                               .by_level = {about(4.0, hardly), about(12.0, hardly)}});
    CHECK(!found.level);
    CHECK(!found.high);
    CHECK(found.low == 200.0);
}

TEST_CASE("a program that does nothing presses with nothing")
{
    const Pressure found = noisegen::pressure({.program = about(-0.2, {-0.5, 0.0, 0.5}),
                                               .levels = {100.0, 200.0},
                                               .by_level = {about(4.0, hardly), about(12.0, hardly)}});
    CHECK(found.level == 0.0);
    CHECK(found.low == 0.0);
    REQUIRE(found.high);
    CHECK(*found.high < 50.0);
}

TEST_CASE("levels that fall by chance are made even before the level is read off")
{
    // The monotone fit of the means 6, 4 and 12 is 5, 5 and 12: 8.5 % is halfway between the second and the third.
    const Pressure found =
        noisegen::pressure({.program = about(8.5, hardly),
                            .levels = {100.0, 200.0, 300.0},
                            .by_level = {about(6.0, hardly), about(4.0, hardly), about(12.0, hardly)}});
    REQUIRE(found.level);
    CHECK(*found.level == doctest::Approx(250.0));
}

TEST_CASE("what disturbs quiet as often as the program is no slowdown by the program")
{
    // In one block the program makes the victim 4 times as slow, in the other quiet does. The mean of the ratios is
    // 2.1.
    const noisegen::Done fast{.amount = 4.0, .seconds = 1.0};
    const noisegen::Done slow{.amount = 1.0, .seconds = 1.0};
    const auto block = [](const noisegen::Done& program, const noisegen::Done& level, const noisegen::Done& quiet) {
        return std::vector<std::array<noisegen::Done, noisegen::Slice::kinds>>{{program}, {level}, {quiet}};
    };
    const noisegen::DoneByBlock blocks{{0, block(slow, slow, fast)}, {1, block(fast, slow, slow)}};
    const Slowdowns found = noisegen::slowdowns(blocks, noisegen::Slice::Kind::read, 0, {1}, {100.0});
    CHECK(noisegen::pressure(found).program.value == doctest::Approx(0.0));
    CHECK(noisegen::pressure(found).levels.front().value == doctest::Approx(100.0));
    CHECK(noisegen::estimate_ratio({4.0, 0.25}).value == doctest::Approx(1.0));
}

TEST_CASE("a stressor that the victim does not feel gives no level")
{
    const Pressure found = noisegen::pressure(
        {.program = about(3.0, hardly), .levels = {100.0}, .by_level = {about(0.1, {-1.0, 0.0, 1.0})}});
    CHECK(!found.felt);
}

TEST_CASE("intervals of pressure hold the true level in 95 of 100 cases")
{
    // The true curve is 0.05 % per unit and the program costs 6 %, so the level is 120. Blocks vary by 2 points, which
    // the program and quiet share.
    base::Random random{3};
    int held = 0;
    constexpr int cases = 400;
    for (int c = 0; c < cases; ++c) {
        Slowdowns all{.levels = {50.0, 100.0, 150.0, 200.0}, .by_level = {{}, {}, {}, {}}};
        for (int block = 0; block < 10; ++block) {
            const double quiet = normal(random);
            all.program.push_back(6.0 + quiet + 2.0 * normal(random));
            for (std::size_t level = 0; level < 4; ++level)
                all.by_level[level].push_back(0.05 * all.levels[level] + quiet + 2.0 * normal(random));
        }
        const Pressure found = noisegen::pressure(all);
        held += found.low <= 120.0 && (!found.high || *found.high >= 120.0) ? 1 : 0;
    }
    CHECK(held >= 366);  // 380 expected, standard deviation 4.4
}

TEST_CASE("a program's pressure is measured beside a real victim and written down")
{
    const auto cores = base::physical_cores(base::allowed_cpus());
    if (cores.size() < 2) return testing::skip("a probe needs a core for the victim and one for the noise");
    const Scratch scratch;
    const std::vector<std::string> words{"env",
                                         testing::without_leak_check,
                                         testing::program,
                                         "probe",
                                         "--command",
                                         "sort /proc/self/maps | tail -n 1 > /dev/null",
                                         "memory.stream[bytes=8MiB,rate=100MB/s|1GB/s]",
                                         "network.exchange[rate=10MB/s]",
                                         "--victim",
                                         std::to_string(*cores.front().cpus.begin()),
                                         "--cpus",
                                         std::to_string(*cores.back().cpus.begin()),
                                         "--array",
                                         "4MiB",
                                         "--slot",
                                         "500ms",
                                         "--blocks",
                                         "3",
                                         "--out",
                                         scratch / "run"};
    const Outcome outcome = testing::run(words);
    INFO(outcome.err);
    if (outcome.err.find("too few of the victim's measurements") != std::string::npos)
        return testing::skip("the victim got too little of its core");
    REQUIRE(outcome.status == 0);
    CHECK(outcome.out.find("memory bandwidth") != std::string::npos);
    const auto json = nlohmann::json::parse(base::read_whole(scratch / "run/probe/pressure.json"));
    CHECK(json.at("command") == "sort /proc/self/maps | tail -n 1 > /dev/null");
    CHECK(json.at("blocks") == 3);
    REQUIRE(json.at("pressures").size() == 2);
    const auto& memory = json.at("pressures").at(0);
    CHECK(memory.at("stressor") == "memory.stream");
    CHECK(memory.at("unit") == "bytes/s");
    REQUIRE(memory.at("levels").size() == 2);
    CHECK(memory.at("levels").at(0).at("level").get<double>() < memory.at("levels").at(1).at("level").get<double>());
    CHECK(json.at("pressures").at(1).at("stressor") == "network.exchange");
}

TEST_CASE("a command that fails, and a stressor without a victim of its own, are refused in one line")
{
    const auto cores = base::physical_cores(base::allowed_cpus());
    if (cores.size() < 2) return testing::skip("a probe needs a core for the victim and one for the noise");
    const Scratch scratch;
    std::vector<std::string> words{"env",
                                   testing::without_leak_check,
                                   testing::program,
                                   "probe",
                                   "--victim",
                                   std::to_string(*cores.front().cpus.begin()),
                                   "--cpus",
                                   std::to_string(*cores.back().cpus.begin()),
                                   "--array",
                                   "4MiB",
                                   "--slot",
                                   "50ms",
                                   "--blocks",
                                   "3",
                                   "--out",
                                   scratch / "run"};
    const auto with = [&](const std::vector<std::string>& more) {
        std::vector<std::string> all = words;
        all.insert(all.end(), more.begin(), more.end());
        return testing::run(all);
    };
    const Outcome failing = with({"--command", "false", "network.exchange[rate=10MB/s]"});
    CHECK(failing.status == 3);
    CHECK(failing.err.find("ended with an error") != std::string::npos);
    const Outcome without = with({"--command", "true", "cpu.spin"});
    CHECK(without.status == 2);
    CHECK(without.err.find("not with cpu.spin") != std::string::npos);
    CHECK(with({"--command", " "}).status == 2);
    CHECK(!std::filesystem::exists(scratch / "run/probe"));
}
