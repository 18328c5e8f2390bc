// SPDX-License-Identifier: Apache-2.0
// Effects of a campaign, compared with calculations by hand.
#include "crosstalk/campaign/collect.hpp"

#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>

using namespace crosstalk;

namespace {

CollectedRun run_of(int block, const std::string& noise, double step_ms)
{
    CollectedRun one;
    one.run.block = block;
    one.run.model = "a";
    one.run.noise = noise;
    one.run.cores = noise == "none" ? "0" : "all";
    one.step_ms = step_ms;
    return one;
}

}  // namespace

TEST_CASE("each run is set against the quiet run of its block, and blocks are averaged")
{
    std::vector<CollectedRun> runs{run_of(1, "none", 100.0), run_of(1, "io.write", 110.0),
                                   run_of(2, "none", 200.0), run_of(2, "io.write", 216.0),
                                   run_of(3, "none", 50.0),  run_of(3, "io.write", 56.0)};
    const auto effects = effects_of(runs, 1.0);
    REQUIRE(effects.size() == 1);
    CHECK(effects[0].blocks == 3);
    CHECK(effects[0].effect_percent == doctest::Approx(10.0));  // mean of 10, 8 and 12
    // The standard error is 2 / sqrt(3); Student's t for two degrees of freedom is 4.3027.
    REQUIRE(effects[0].interval);
    CHECK(effects[0].interval->low == doctest::Approx(10.0 - 4.3027 * 1.154701).epsilon(1e-4));
    CHECK(effects[0].interval->high == doctest::Approx(10.0 + 4.3027 * 1.154701).epsilon(1e-4));
    CHECK(effects[0].verdict == "unsafe");
    CHECK_FALSE(runs[0].effect_percent);
    CHECK(*runs[3].effect_percent == doctest::Approx(8.0));
}

TEST_CASE("trainings of different options have effects of their own")
{
    std::vector<CollectedRun> runs{run_of(1, "none", 100.0), run_of(1, "io.write", 110.0), run_of(2, "none", 100.0),
                                   run_of(2, "io.write", 130.0)};
    runs[2].run.options = runs[3].run.options = "--a x";
    const auto effects = effects_of(runs, 1.0);
    REQUIRE(effects.size() == 2);
    CHECK(effects[0].effect_percent == doctest::Approx(10.0));
    CHECK(effects[1].effect_percent == doctest::Approx(30.0));
    CHECK(effects[1].of.options == "--a x");
}

TEST_CASE("two quiet runs of a block count as their mean")
{
    std::vector<CollectedRun> runs{run_of(1, "none", 90.0), run_of(1, "none", 110.0), run_of(1, "io.write", 103.0)};
    const auto effects = effects_of(runs, 1.0);
    REQUIRE(effects.size() == 1);
    CHECK(effects[0].effect_percent == doctest::Approx(3.0));
    CHECK_FALSE(effects[0].interval);
    CHECK(effects[0].verdict == "undecided");
}

TEST_CASE("a block without its quiet run tells nothing")
{
    std::vector<CollectedRun> runs{run_of(1, "none", 100.0), run_of(2, "io.write", 103.0)};
    CHECK(effects_of(runs, 1.0).empty());
}

TEST_CASE("effects have the order of the spec, not that of its words")
{
    Spec spec;
    spec.models = {"a"};
    spec.noise = {"memory.stream[rate=512MiB/s|2GiB/s|10GiB/s]", "io.write"};
    spec.cores = {"2", "10"};
    std::vector<CollectedRun> runs;
    const Plan plan = make_plan(spec);
    for (const PlannedRun& run : plan) {
        runs.emplace_back().run = run;
        runs.back().step_ms = 100.0;
    }
    std::vector<CollectedEffect> effects = effects_of(runs, 1.0);
    order_as_in(spec, effects);
    std::vector<std::string> names;
    for (const CollectedEffect& effect : effects) names.push_back(treatment_name(effect.of));
    CHECK(names == std::vector<std::string>{
                       "memory.stream[rate=512MiB/s] on 2 cores", "memory.stream[rate=512MiB/s] on 10 cores",
                       "memory.stream[rate=2GiB/s] on 2 cores", "memory.stream[rate=2GiB/s] on 10 cores",
                       "memory.stream[rate=10GiB/s] on 2 cores", "memory.stream[rate=10GiB/s] on 10 cores",
                       "io.write on 2 cores", "io.write on 10 cores"});
}

TEST_CASE("a step lasts until the next one of its rank begins")
{
    const testing::Scratch scratch;
    std::ofstream{scratch / "steps.csv"} << "rank,step,begin_ns,end_ns\n"
                                            "0,0,0,9000000\n"          // warm-up
                                            "0,1,10000000,18000000\n"  // 2 ms before the next step
                                            "1,1,11000000,19000000\n"
                                            "0,2,20000000,27000000\n"  // no next step
                                            "1,2,24000000,26000000\n"
                                            "0,4,40000000,45000000\n";
    std::vector<double> lengths = cycles_ms(scratch / "steps.csv", 1);
    std::sort(lengths.begin(), lengths.end());
    CHECK(lengths == std::vector<double>{2.0, 5.0, 7.0, 10.0, 13.0});
}
