// SPDX-License-Identifier: Apache-2.0
// Tests of the parts of steps and of slowdowns, with numbers that can be checked on paper.
#include "analysis/conclude/decomposition.hpp"
#include "analysis/input/step_work/recorded_work.hpp"

#include <doctest/doctest.h>

#include <list>
#include <numeric>

using analysis::CallTime;
using analysis::Change;
using analysis::Part;
using analysis::WorkOfStep;

namespace {

constexpr std::int64_t ms = 1'000'000;

// A step from 0 to 100 ms: forward until 40 ms, wait_exchange until 90 ms, update.
WorkOfStep step_with_wait()
{
    return {.number = 0,
            .begin_ns = 0,
            .end_ns = 100 * ms,
            .signature = 0,
            .own_ns = {40 * ms, 50 * ms, 10 * ms},
            .calls = {},
            .waits = {{40 * ms, 90 * ms}}};
}

double part_ms(const analysis::Work& work, std::size_t rank, Part part)
{
    return work.ranks[rank].parts_ms(0, analysis::column(part));
}

// Records one step of each rank; the records live as long as the program.
analysis::RecordedWork of_steps(const std::vector<WorkOfStep>& steps)
{
    static std::list<analysis::WorkOfSteps> kept;
    analysis::RecordedWork recorded;
    for (const WorkOfStep& step : steps) {
        kept.emplace_back().append(step);
        recorded.ranks.push_back({&kept.back(), {0}, {}});
    }
    return recorded;
}

using Exchanges = std::vector<base::LongColumn<analysis::TimeSpan>>;  // [rank]

void set(analysis::RecordedWork& recorded, const Exchanges& exchanges)
{
    for (std::size_t r = 0; r < exchanges.size(); ++r) recorded.ranks[r].exchanges = exchanges[r];
}

analysis::RecordedWork with_exchanges(const std::vector<WorkOfStep>& steps, const Exchanges& exchanges)
{
    analysis::RecordedWork recorded = of_steps(steps);
    recorded.columns = {"forward", "wait_exchange", "update"};
    recorded.part_of = {Part::own, Part::own, Part::own};
    recorded.wait_column = 1;
    set(recorded, exchanges);
    return recorded;
}

// Changes in which only waiting grew on rank 0, and only forward on rank 1.
std::vector<Change> parts_of_a_late_rank()
{
    return {{0, "own work", 0.0, {-1.0, 1.0}},  {0, "input", 0.0, {-1.0, 1.0}},     {0, "checkpoint", 0.0, {0.0, 0.0}},
            {0, "waiting", 19.0, {18.0, 20.0}}, {0, "transfer", 0.5, {0.0, 1.0}},   {1, "own work", 19.5, {18.0, 21.0}},
            {1, "input", 0.0, {-1.0, 1.0}},     {1, "checkpoint", 0.0, {0.0, 0.0}}, {1, "waiting", -0.5, {-1.0, 0.0}},
            {1, "transfer", 0.5, {0.0, 1.0}}};
}

}  // namespace

TEST_CASE("a rank that hands its bucket in late works on its own in wait_exchange, and the other waits")
{
    const std::vector<WorkOfStep> steps{step_with_wait(), step_with_wait()};
    const analysis::Work work = analysis::work_of(with_exchanges(steps, {{{40 * ms, 90 * ms}}, {{65 * ms, 90 * ms}}}));
    CHECK(part_ms(work, 0, Part::own) == 50.0);
    CHECK(part_ms(work, 0, Part::waiting) == 25.0);
    CHECK(part_ms(work, 0, Part::transfer) == 25.0);
    CHECK(part_ms(work, 1, Part::own) == 75.0);
    CHECK(part_ms(work, 1, Part::waiting) == 0.0);
    CHECK(part_ms(work, 1, Part::transfer) == 25.0);
    CHECK(work.ranks[1].own_ms(0, 1) == 25.0);
    for (const analysis::RankWork& rank : work.ranks) CHECK(rank.parts_ms.all().sum() == 100.0);
}

TEST_CASE("where ranks agree before they exchange nothing of wait_exchange before that is own work")
{
    const std::vector<WorkOfStep> steps{step_with_wait(), step_with_wait()};
    analysis::RecordedWork recorded = with_exchanges(steps, {{{65 * ms, 90 * ms}}, {{65 * ms, 90 * ms}}});
    recorded.negotiates = true;
    const analysis::Work work = analysis::work_of(recorded);
    CHECK(part_ms(work, 0, Part::own) == 50.0);
    CHECK(part_ms(work, 0, Part::waiting) == 25.0);
    CHECK(part_ms(work, 0, Part::transfer) == 25.0);
}

TEST_CASE("where ranks agree before they exchange a rank that goes on late after it works on its own")
{
    const std::vector<WorkOfStep> steps{step_with_wait(), step_with_wait()};
    analysis::RecordedWork recorded = with_exchanges(steps, {{{65 * ms, 90 * ms}}, {{40 * ms, 65 * ms}}});
    recorded.negotiates = true;
    const analysis::Work work = analysis::work_of(recorded);
    CHECK(part_ms(work, 0, Part::own) == 50.0);
    CHECK(part_ms(work, 0, Part::waiting) == 25.0);
    CHECK(part_ms(work, 0, Part::transfer) == 25.0);
    CHECK(part_ms(work, 1, Part::own) == 75.0);
    CHECK(part_ms(work, 1, Part::waiting) == 0.0);
    CHECK(part_ms(work, 1, Part::transfer) == 25.0);
    CHECK(work.ranks[1].own_ms(0, 1) == 25.0);

    // All exchanges happened during backward, until 30 ms: all of wait_exchange is own work.
    set(recorded, {{{10 * ms, 30 * ms}}, {{10 * ms, 30 * ms}}});
    CHECK(part_ms(analysis::work_of(recorded), 0, Part::own) == 100.0);
    // No exchange began in this step: all of wait_exchange is waiting.
    set(recorded, {{{-20 * ms, -10 * ms}}, {{-20 * ms, -10 * ms}}});
    CHECK(part_ms(analysis::work_of(recorded), 0, Part::waiting) == 50.0);
}

TEST_CASE("of an exchange that began in backward only what makes the step wait counts")
{
    const std::vector<WorkOfStep> steps{step_with_wait(), step_with_wait()};
    const analysis::Work work = analysis::work_of(with_exchanges(steps, {{{10 * ms, 90 * ms}}, {{70 * ms, 90 * ms}}}));
    CHECK(part_ms(work, 0, Part::transfer) == 20.0);
    CHECK(part_ms(work, 0, Part::waiting) == 30.0);
    CHECK(work.ranks[1].own_ms(0, 1) == 30.0);
}

TEST_CASE("calls of MPI are matched by their place in the step; the shortest of each is transfer")
{
    WorkOfStep first{.number = 0,
                     .begin_ns = 0,
                     .end_ns = 20 * ms,
                     .signature = 0,
                     .own_ns = {10 * ms},
                     .calls = {{7, 4 * ms}, {8, 6 * ms}},
                     .waits = {}};
    WorkOfStep second{.number = 0,
                      .begin_ns = 0,
                      .end_ns = 20 * ms,
                      .signature = 0,
                      .own_ns = {13 * ms},
                      .calls = {{7, 6 * ms}, {8, 1 * ms}},
                      .waits = {}};
    const auto work_of_both = [&] {
        analysis::RecordedWork recorded = of_steps({first, second});
        recorded.columns = {"compute"};
        recorded.part_of = {Part::own};
        return analysis::work_of(recorded);
    };
    analysis::Work work = work_of_both();
    CHECK(part_ms(work, 0, Part::transfer) == 5.0);
    CHECK(part_ms(work, 0, Part::waiting) == 5.0);
    CHECK(part_ms(work, 1, Part::waiting) == 2.0);
    second.calls = {{7, 6 * ms}};  // other calls, so totals are compared
    work = work_of_both();
    CHECK(part_ms(work, 0, Part::transfer) == 6.0);
    CHECK(part_ms(work, 0, Part::waiting) == 4.0);
}

TEST_CASE("a slowdown is made of the critical rank's parts and what they leave unexplained")
{
    const analysis::Decomposition found = analysis::decompose(
        20.0, {19.0, 21.0}, parts_of_a_late_rank(),
        {{1, "forward", 19.4, {18.0, 21.0}}, {1, "backward", 0.1, {-1.0, 1.0}}, {0, "forward", 0.0, {-1.0, 1.0}}});
    CHECK(found.critical_rank == 1);
    CHECK(found.region == "forward");
    REQUIRE(found.waits);
    CHECK(found.waits->rank == 0);
    double sum = 0.0;
    for (const Change& part : found.parts) sum += part.percent;
    CHECK(sum == doctest::Approx(20.0));
    CHECK(found.parts.back().name == "unexplained");
    CHECK(found.parts.back().percent == doctest::Approx(0.5));
    CHECK(analysis::largest_part(found) == "own work");
}

TEST_CASE("nobody waits for a critical rank that waits as long itself")
{
    std::vector<Change> parts = parts_of_a_late_rank();
    parts[8] = {1, "waiting", 18.5, {18.0, 19.0}};
    const analysis::Decomposition found =
        analysis::decompose(38.0, {37.0, 39.0}, parts, {{1, "forward", 19.4, {18.0, 21.0}}});
    CHECK(found.critical_rank == 1);
    CHECK_FALSE(found.waits);
}

TEST_CASE("without a rank whose own work grew none is critical")
{
    std::vector<Change> parts = parts_of_a_late_rank();
    parts[5] = {1, "own work", 0.2, {-1.0, 1.4}};
    const analysis::Decomposition found = analysis::decompose(0.2, {-1.0, 1.4}, parts, {});
    CHECK_FALSE(found.critical_rank);
    CHECK(analysis::largest_part(found).empty());
    CHECK(analysis::decompose(3.0, {2.0, 4.0}, {}, {}).parts.back().percent == doctest::Approx(3.0));
}

TEST_CASE("the resource is named by what grew, and own work by CPU time")
{
    analysis::Decomposition found = analysis::decompose(20.0, {19.0, 21.0}, parts_of_a_late_rank(), {});
    analysis::name_resource(found, {});
    CHECK(found.resource == analysis::Resource::unknown);
    analysis::name_resource(found, 18.0);
    CHECK(found.resource == analysis::Resource::memory);
    analysis::name_resource(found, 0.3);
    CHECK(found.resource == analysis::Resource::cpu);
    const auto made_of = [](const char* grown) {
        std::vector<Change> parts;
        for (const char* part : {"own work", "input", "checkpoint", "waiting", "transfer"})
            parts.push_back(
                {0, part, part == std::string{grown} ? 10.0 : 0.0, {part == std::string{grown} ? 9.0 : 0.0, 11.0}});
        analysis::Decomposition one = analysis::decompose(10.0, {9.0, 11.0}, parts, {});
        analysis::name_resource(one, {});
        return one.resource;
    };
    CHECK(made_of("input") == analysis::Resource::io);
    CHECK(made_of("checkpoint") == analysis::Resource::io);
    CHECK(made_of("transfer") == analysis::Resource::network);
    CHECK(analysis::resource_of_stressor("cache.llc") == analysis::Resource::memory);
    CHECK(analysis::resource_of_stressor("metadata.create") == analysis::Resource::io);
    CHECK(analysis::resource_of_stressor("gpu.copy") == analysis::Resource::gpu);
    CHECK(analysis::text(analysis::Resource::gpu) == "GPU");
    CHECK(analysis::resource_of_stressor("sort") == analysis::Resource::unknown);
}
