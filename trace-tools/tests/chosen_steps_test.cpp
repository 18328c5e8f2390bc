// SPDX-License-Identifier: Apache-2.0
// Default choice of the steps: guessed from the first events; a second pass follows if the whole archive disagrees.
#include "trace-tools/steps/chosen_steps.hpp"

#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "testing/archives/raw_archive.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>

namespace fs = std::filesystem;

namespace {

enum Region : OTF2_RegionRef { whole, warm_up, iteration };

// Writes one rank: `warm_ups` visits of 1 us, then `iterations` visits of 1 ms, all inside main. Returns the anchor.
fs::path record(const fs::path& folder, int warm_ups, int iterations)
{
    otf2::RawArchive archive{folder};
    std::uint64_t now = 1'000'000'000;
    const auto visit = [&](Region region, std::uint64_t ns) {
        archive.enter(0, now, region);
        now += ns;
        archive.leave(0, now, region);
    };
    archive.enter(0, now, whole);
    for (int i = 0; i < warm_ups; ++i) visit(warm_up, 1'000);
    for (int i = 0; i < iterations; ++i) visit(iteration, 1'000'000);
    archive.leave(0, now, whole);
    archive.end_events();
    archive.clock(1'000'000'000, now - 1'000'000'000);
    archive.node(0, "node");
    archive.process(0, "rank 0", 0);
    archive.location(0, "main", 0);
    archive.region(whole, "main");
    archive.region(warm_up, "warm_up");
    archive.region(iteration, "iteration");
    archive.finish();
    return folder / base::file::anchor;
}

class Counter : public otf2::StepObserver {
 public:
    void begin_step(const otf2::At&, std::optional<std::int64_t>) override {}
    void end_step(const otf2::At&) override { ++steps; }
    void enter(const otf2::At&, std::uint32_t, const otf2::EventAttributes&) override { ++entered; }

    int steps = 0;
    int entered = 0;
};

struct Chosen {
    std::string name;
    std::size_t steps = 0;
    int observers = 0;
    Counter last;
};

Chosen chosen(const fs::path& anchor)
{
    otf2::Reader reader{anchor};
    Chosen all;
    std::optional<Counter> counter;
    const auto observer = [&]() -> otf2::StepObserver& {
        ++all.observers;
        return counter.emplace();
    };
    const auto found = otf2::chosen_steps(reader, {}, observer);
    REQUIRE(found);
    all.name = found->name;
    all.steps = found->table.ranks.at(0).steps.size();
    all.last = *counter;
    return all;
}

}  // namespace

TEST_CASE("steps that the first events show are read once")
{
    const testing::Scratch scratch;
    const Chosen found = chosen(record(scratch / "trace", 0, 30'000));
    CHECK(found.name == "iteration");
    CHECK(found.steps == 30'000);
    CHECK(found.observers == 1);
    CHECK(found.last.steps == 30'000);
    CHECK(found.last.entered == 30'001);
}

TEST_CASE("first events that are not like the rest do not mislead")
{
    const testing::Scratch scratch;
    const Chosen found = chosen(record(scratch / "trace", 25'000, 500));
    CHECK(found.name == "iteration");
    CHECK(found.steps == 500);
    CHECK(found.observers == 2);
    CHECK(found.last.steps == 500);
    CHECK(found.last.entered == 25'501);
}

TEST_CASE("a step may be several calls")
{
    const testing::Scratch scratch;
    otf2::Reader reader{record(scratch / "run", 5, 11)};
    const auto found = otf2::chosen_steps(reader, {.from = "iteration", .every = 5});
    REQUIRE(found);
    CHECK(found->name == "iteration to the 5th iteration after it");
    const auto& steps = found->table.ranks.at(0).steps;
    REQUIRE(steps.size() == 2);  // between visits 1, 6 and 11
    CHECK(steps[0].end_ns - steps[0].begin_ns == 5'000'000);
    CHECK(steps[1].begin_ns == steps[0].end_ns);
    CHECK_THROWS_AS((otf2::StepChoice{.region = "iteration", .every = 2}).check(), base::UsageError);
    CHECK_THROWS_AS((otf2::StepChoice{.from = "iteration", .every = 0}).check(), base::UsageError);
}
