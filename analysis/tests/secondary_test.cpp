// Response curves, carry-over, tails and power, of runs without chance whose answers are counted by hand.
#include "analysis/conclude/forecast.hpp"
#include "analysis/estimate/secondary/carry_over.hpp"
#include "analysis/estimate/secondary/response.hpp"
#include "analysis/estimate/secondary/tails.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

namespace {

using analysis::Assigned;

constexpr double gib = 1073741824.0;
constexpr int steps_of_slot = 20;

struct PlannedSlot {
    int block = 0;
    std::vector<Assigned> on;
};

Assigned at_level(const std::string& factor, const std::string& level)
{
    return {factor, level, "memory.stream"};
}

// Every slot lasts as long as its steps do. step_ms: of a step by its slot and its number in it.
analysis::DesignedRun exact_run(const std::vector<PlannedSlot>& planned,
                                const std::function<double(std::size_t slot, int step)>& step_ms)
{
    analysis::DesignedRun run;
    std::vector<analysis::Slot> slots;
    analysis::RankSteps& rank = run.steps.ranks.emplace_back();
    std::int64_t time_ns = 0;
    for (std::size_t s = 0; s < planned.size(); ++s) {
        const std::int64_t begin_ns = time_ns;
        for (int i = 0; i < steps_of_slot; ++i) {
            rank.begin_ns.push_back(time_ns);
            time_ns += static_cast<std::int64_t>(step_ms(s, i) * 1e6);
            rank.end_ns.push_back(time_ns);
            run.steps.numbers.push_back(static_cast<std::int64_t>(run.steps.numbers.size()));
        }
        slots.push_back({planned[s].block, begin_ns, time_ns, planned[s].on});
    }
    run.steps.phases = {"other"};
    rank.phase_ms.resize(static_cast<Eigen::Index>(rank.begin_ns.size()), 1);
    for (std::size_t i = 0; i < rank.begin_ns.size(); ++i)
        rank.phase_ms(static_cast<Eigen::Index>(i), 0) = static_cast<double>(rank.end_ns[i] - rank.begin_ns[i]) / 1e6;
    run.plan = analysis::experiment(analysis::Design::rotation, slots);
    run.slots = {slots};
    return run;
}

analysis::Analysis analysed(const analysis::DesignedRun& run)
{
    return analysis::analyse(run, {.exposure = {.warm_up_steps = 0}, .draws = {.count = 0}, .by_rank = false});
}

// Blocks of quiet and a noise at 1, 2 and 16 GiB/s, in another order each, with these effects.
analysis::ResponseCurve curve_of(double at_1, double at_2, double at_16, double budget,
                                 const analysis::Doses& doses = {})
{
    std::vector<PlannedSlot> planned;
    for (int block = 0; block < 4; ++block)
        for (int slot = 0; slot < 4; ++slot) {
            const int treatment = (slot + block) % 4;
            const std::vector<std::string> levels{"", "rate=1GiB/s", "rate=2GiB/s", "rate=16GiB/s"};
            planned.push_back({block, {}});
            if (treatment > 0) planned.back().on = {at_level("mem", levels[static_cast<std::size_t>(treatment)])};
        }
    const analysis::DesignedRun run = exact_run(planned, [&](std::size_t slot, int) {
        const std::vector<Assigned>& on = planned[slot].on;
        if (on.empty()) return 10.0;
        const double percent = on[0].level == "rate=1GiB/s" ? at_1 : on[0].level == "rate=2GiB/s" ? at_2 : at_16;
        return 10.0 * (1.0 + percent / 100.0);
    });
    const analysis::Analysis analysis = analysed(run);
    const auto curves = analysis::response_curves({{{&run, &analysis}}}, doses, {.budget_percent = budget});
    REQUIRE(curves.size() == 1);
    return curves.front();
}

}  // namespace

TEST_CASE("values that fall are pooled by their weights")
{
    CHECK(base::isotonic(std::vector<double>{1, 3, 2, 4}, std::vector<double>{1, 1, 1, 1}) ==
          std::vector<double>{1, 2.5, 2.5, 4});
    CHECK(base::isotonic(std::vector<double>{3, 1}, std::vector<double>{1, 3}) == std::vector<double>{1.5, 1.5});
    CHECK(base::isotonic(std::vector<double>{3, 2, 1}, std::vector<double>{1, 1, 1}) == std::vector<double>{2, 2, 2});
}

TEST_CASE("the tolerated level lies where the line between two levels meets the budget")
{
    const analysis::ResponseCurve curve = curve_of(0.5, 2.0, 30.0, 1.0);
    CHECK(curve.unit == "bytes/s");
    CHECK(!curve.achieved);
    REQUIRE(curve.points.size() == 3);
    CHECK(curve.points[2].level == "rate=16GiB/s");  // by amount, not as text
    CHECK(*curve.tolerated.value / gib == doctest::Approx(1.0 + 0.5 / 1.5).epsilon(1e-5));
    // A run without chance leaves no room but the 256 places between two levels at which it is looked.
    CHECK(*curve.tolerated.low / gib == doctest::Approx(1.333).epsilon(0.005));
    CHECK(*curve.tolerated.high / gib == doctest::Approx(1.333).epsilon(0.005));
    CHECK(*curve.break_point.value == doctest::Approx(gib));
}

TEST_CASE("below the lowest rate the curve begins at nothing")
{
    CHECK(*curve_of(4.0, 5.0, 6.0, 1.0).tolerated.value / gib == doctest::Approx(0.25).epsilon(1e-5));
}

TEST_CASE("a curve that stays below the budget tolerates every level")
{
    const analysis::ResponseCurve curve = curve_of(-0.1, -0.1, 0.5, 1.0);
    CHECK(!curve.tolerated.value);
    CHECK(!curve.tolerated.high);
    CHECK(*curve.tolerated.low / gib == doctest::Approx(16.0));
    CHECK(*curve.break_point.value / gib == doctest::Approx(16.0));
}

TEST_CASE("doses are what was achieved where each level has it on record")
{
    const analysis::Doses doses{{{"mem", "rate=1GiB/s"}, {.bytes_per_s = 0.9 * gib}},
                                {{"mem", "rate=2GiB/s"}, {.bytes_per_s = 1.9 * gib}},
                                {{"mem", "rate=16GiB/s"}, {.bytes_per_s = 5.0 * gib}}};
    const analysis::ResponseCurve curve = curve_of(0.0, 2.0, 30.0, 1.0, doses);
    CHECK(curve.achieved);
    CHECK(curve.points[2].dose / gib == doctest::Approx(5.0));
    CHECK(*curve.tolerated.value / gib == doctest::Approx(1.4).epsilon(1e-5));
}

TEST_CASE("what a noise leaves in the next slot is told from what it costs in its own")
{
    // b costs 10 % in its own slots and a 3 % in the next one, whatever is on there.
    const std::vector<std::string> order{"",  "a", "b", "b", "", "a", "a", "b", "",  "",  "b", "a",
                                         "b", "",  "a", "a", "", "b", "",  "a", "b", "b", "a", ""};
    std::vector<PlannedSlot> planned;
    for (std::size_t s = 0; s < order.size(); ++s) {
        planned.push_back({static_cast<int>(s / 3), {}});
        if (!order[s].empty()) planned.back().on = {at_level(order[s], "")};
    }
    const analysis::DesignedRun run = exact_run(planned, [&](std::size_t s, int) {
        return 10.0 + (order[s] == "b" ? 1.0 : 0.0) + (s > 0 && order[s - 1] == "a" ? 0.3 : 0.0);
    });
    const std::vector<analysis::CarryOver> found = analysis::carry_over(run, analysed(run), false);
    REQUIRE(found.size() == 2);
    CHECK(found[0].factor == "a");
    CHECK(found[0].percent.value == doctest::Approx(3.0));
    CHECK(found[0].percent.standard_error == doctest::Approx(0.0));
    CHECK(found[0].steps == 8 * steps_of_slot);
    CHECK(found[1].percent.value == doctest::Approx(0.0));
}

TEST_CASE("a fixed order does not tell carry-over from effects")
{
    std::vector<PlannedSlot> planned;
    for (int s = 0; s < 12; ++s) {
        planned.push_back({s / 2, {}});
        if (s % 2 == 1) planned.back().on = {at_level("a", "")};
    }
    const analysis::DesignedRun run = exact_run(planned, [](std::size_t s, int) { return s % 2 == 1 ? 11.0 : 10.0; });
    CHECK(analysis::carry_over(run, analysed(run), false).empty());
}

TEST_CASE("tails and variability of steps of which one in ten is longer")
{
    std::vector<PlannedSlot> planned;
    for (int s = 0; s < 12; ++s) {
        planned.push_back({s / 2, {}});
        if (s % 2 == 1) planned.back().on = {at_level("a", "")};
    }
    const analysis::DesignedRun run =
        exact_run(planned, [](std::size_t s, int step) { return s % 2 == 1 && step % 10 == 9 ? 12.0 : 10.0; });
    const std::vector<analysis::Effect> tails = analysis::tail_effects(run, analysed(run), 1);
    const auto of = [&](const char* name) { return analysis::find(tails, "a", "", analysis::Kind::alone, name); };
    REQUIRE(of("p95 step") != nullptr);
    CHECK(of("p95 step")->percent.value == doctest::Approx(20.0));
    CHECK(of("p95 step")->percent.standard_error == doctest::Approx(0.0));
    CHECK(of("p99 step") == nullptr);                                        // of 120 steps one is beyond it
    CHECK(of("standard deviation")->percent.value == doctest::Approx(6.0));  // 20 % x sqrt(0.1 x 0.9)
    CHECK(of("coefficient of variation")->percent.value == doctest::Approx(100.0 * 0.6 / 10.2));
}

TEST_CASE("the effect that four runs of five find")
{
    // (2.0930 + 0.8610) x 0.5, of Student's t with 19 degrees of freedom
    CHECK(analysis::detectable_percent({7.0, 0.5, 19.0}, 0.95) == doctest::Approx(1.4770).epsilon(1e-4));
}
