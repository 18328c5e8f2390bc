// SPDX-License-Identifier: Apache-2.0
// Harm that a noise's effect does not include: on other ranks, in later slots, in other settings of a factorial. Such a
// noise is not called safe.
#include "analysis/conclude/verdict.hpp"
#include "testing/synthetic_steps.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

using analysis::Slot;
using analysis::testing::calm_and_net;
using analysis::testing::drawn_slots;
using analysis::testing::has;
using analysis::testing::laid;
using analysis::testing::noise_called;

namespace {

// Relative length of a step: at most 0.5 % longer or shorter.
double jitter(std::int64_t number)
{
    return 1.0 + 0.001 * static_cast<double>(number * 7 % 11 - 5);
}

struct Judged {
    analysis::Analysis analysis;
    analysis::Verdict verdict;

    const analysis::FactorVerdict& on(const std::string& factor) const
    {
        const auto found = std::find_if(verdict.factors.begin(), verdict.factors.end(),
                                        [&](const analysis::FactorVerdict& one) { return one.factor == factor; });
        REQUIRE(found != verdict.factors.end());
        return *found;
    }
    bool distrusted_for(const std::string& words) const
    {
        return std::any_of(verdict.reasons.begin(), verdict.reasons.end(),
                           [&](const std::string& reason) { return reason.find(words) != std::string::npos; });
    }
};

Judged judged(const analysis::DesignedRun& run)
{
    Judged all;
    all.analysis = analysis::analyse(run, {.exposure = {.warm_up_steps = 0}, .draws = {.count = 199}});
    all.verdict = analysis::verdict(run, all.analysis, {}, {.budget_percent = 1.0});
    return all;
}

// True if the slot `back` slots earlier had the noise. `slot` need not be an element of `slots`, but begins when one of
// them does.
bool had(const std::vector<Slot>& slots, const Slot& slot, std::ptrdiff_t back, const std::string& noise)
{
    const auto in =
        std::find_if(slots.begin(), slots.end(), [&](const Slot& one) { return one.begin_ns == slot.begin_ns; });
    return in - slots.begin() >= back && has(*(in - back), noise);
}

}  // namespace

TEST_CASE("a rank that noise slows by more than the budget forbids safe where the mean over ranks hides it")
{
    // Sixteen ranks do not wait for each other; net makes the steps of one rank 5 % longer, so the mean step 0.3 %.
    const std::vector<Slot> slots = calm_and_net(60, 400.0);
    analysis::DesignedRun run = laid(slots, [](std::int64_t number, const Slot&) { return 20.0 * jitter(number); });
    const analysis::RankSteps alike = run.steps.ranks[0];
    for (int r = 1; r < 16; ++r) {
        analysis::RankSteps& rank = run.steps.ranks.emplace_back(alike);
        rank.rank = r;
        run.slots.push_back(slots);
    }
    analysis::RankSteps& slow = run.steps.ranks.back();
    for (std::size_t i = 0; i < slow.begin_ns.size(); ++i) {
        const auto in =
            std::find_if(slots.begin(), slots.end(), [&](const Slot& slot) { return slow.begin_ns[i] < slot.end_ns; });
        if (in == slots.end() || !has(*in, "net")) continue;
        const std::int64_t more_ns = (slow.end_ns[i] - slow.begin_ns[i]) / 20;
        slow.end_ns[i] += more_ns;
        slow.phase_ms(static_cast<Eigen::Index>(i), 0) += static_cast<double>(more_ns) / 1e6;
    }
    const Judged all = judged(run);
    CHECK(all.on("net").percent.value < 1.0);
    CHECK(all.on("net").verdict == "insensitive");
    REQUIRE(all.verdict.lacked.contains({"net", ""}));
    CHECK(all.verdict.lacked.at({"net", ""}).find("steps of rank 15 take ") == 0);
    CHECK_FALSE(all.verdict.lacked.contains({"calm", ""}));
}

TEST_CASE("ranks that begin their steps in other slots are reason to distrust")
{
    analysis::DesignedRun run =
        laid(calm_and_net(30, 400.0), [](std::int64_t number, const Slot&) { return 20.0 * jitter(number); });
    run.steps.ranks.push_back(run.steps.ranks[0]);
    run.steps.ranks[1].rank = 1;
    run.slots.push_back(run.slots[0]);
    CHECK_FALSE(judged(run).distrusted_for("clocks"));
    for (Slot& slot : run.slots[1]) {  // shifts the node's clock by three slots
        slot.begin_ns += 1'200'000'000;
        slot.end_ns += 1'200'000'000;
    }
    CHECK(judged(run).distrusted_for("rank 1 began"));
}

TEST_CASE("a noise that harms alone is not safe because others undo it")
{
    // Each noise alone costs 3 %, both together nothing: on average 0 %.
    const std::vector<Slot> slots = drawn_slots(
        {{}, {noise_called("mem")}, {noise_called("net")}, {noise_called("mem"), noise_called("net")}}, 60, 400.0, 1);
    analysis::DesignedRun run = laid(slots, [](std::int64_t number, const Slot& slot) {
        return 20.0 * jitter(number) * (has(slot, "mem") != has(slot, "net") ? 1.03 : 1.0);
    });
    run.plan = analysis::experiment(analysis::Design::factorial, slots);
    const Judged all = judged(run);
    for (const char* noise : {"mem", "net"}) {
        CAPTURE(noise);
        CHECK(std::abs(all.on(noise).percent.value) < 0.2);
        CHECK(all.on(noise).verdict == "insensitive");
        REQUIRE(all.verdict.lacked.contains({noise, ""}));
        CHECK(all.verdict.lacked.at({noise, ""}).find("without the other noises it costs ") == 0);
    }
}

TEST_CASE("what a noise leaves in several slots is part of its effect")
{
    // Net costs 0.5 % in each of the three slots after its own, and nothing in its own: 1.5 % if it is on all the time.
    const std::vector<Slot> slots = calm_and_net(150, 400.0);
    const analysis::DesignedRun run = laid(slots, [&](std::int64_t number, const Slot& slot) {
        double left = 1.0;
        for (const int back : {1, 2, 3}) left += had(slots, slot, back, "net") ? 0.005 : 0.0;
        return 20.0 * jitter(number) * left;
    });
    const Judged all = judged(run);
    REQUIRE(all.analysis.carry_over.size() == 2);
    const analysis::CarryOver& net = all.analysis.carry_over[1];
    CHECK(net.factor == "net");
    CHECK(net.slots == 3);
    CHECK(net.percent.value == doctest::Approx(1.5).epsilon(0.1));
    CHECK(net.counted);
    CHECK(all.on("net").interval.high == doctest::Approx(1.5).epsilon(0.1));  // 199 draws: p is not beyond doubt
    CHECK(all.on("net").verdict != "safe");
}

TEST_CASE("stalls in the slots after a noise forbid to call it safe")
{
    // The third step of every second slot after net takes 20 ms longer.
    const std::vector<Slot> slots = calm_and_net(100, 400.0);
    std::int64_t last_ns = -1;
    std::int64_t in_slot = 0;
    std::int64_t after = 0;
    const analysis::DesignedRun run = laid(slots, [&](std::int64_t number, const Slot& slot) {
        in_slot = slot.begin_ns == last_ns ? in_slot + 1 : 0;
        last_ns = slot.begin_ns;
        const bool follows = had(slots, slot, 1, "net") && in_slot == 3;
        return 20.0 * jitter(number) + (follows && ++after % 2 == 0 ? 20.0 : 0.0);
    });
    const Judged all = judged(run);
    CHECK(after > 50);
    CHECK(all.on("net").verdict == "insensitive");
    REQUIRE(all.verdict.lacked.contains({"net", ""}));
    CHECK(all.verdict.lacked.at({"net", ""}).find("long steps are more frequent, or longer, in the slot after it") ==
          0);
    CHECK_FALSE(all.verdict.lacked.contains({"calm", ""}));
}

TEST_CASE("a noise whose debts the next checkpoint pays is not called safe")
{
    // Every 50th step saves for 80 ms, plus 1 ms for each step under net since the last save: 5 % of a step.
    const std::vector<Slot> slots = calm_and_net(100, 400.0);
    double debt_ms = 0.0;
    const analysis::DesignedRun run = laid(slots, [&](std::int64_t number, const Slot& slot) {
        double ms = 20.0 * jitter(number);
        if (number % 50 == 49) ms += 80.0 + std::exchange(debt_ms, 0.0);
        if (has(slot, "net")) debt_ms += 1.0;
        return ms;
    });
    const Judged all = judged(run);
    REQUIRE(all.analysis.carry_over.size() == 2);
    CHECK(all.analysis.carry_over[1].debt.found_percent == doctest::Approx(5.0 / 1.08).epsilon(0.1));
    CHECK(all.analysis.carry_over[0].debt.found_percent == 0.0);
    CHECK(all.on("net").verdict == "insensitive");
    REQUIRE(all.verdict.lacked.contains({"net", ""}));
    CHECK(all.verdict.lacked.at({"net", ""}).find("long steps (every 50 steps) that follow it are longer") == 0);
    CHECK_FALSE(all.verdict.lacked.contains({"calm", ""}));
}

TEST_CASE("what one noise leaves for a slot does not hide what another leaves for three")
{
    // calm has a carry-over of 3 % into one slot, net of 0.5 % into each of three.
    const std::vector<Slot> slots = calm_and_net(150, 400.0);
    const analysis::DesignedRun run = laid(slots, [&](std::int64_t number, const Slot& slot) {
        double left = had(slots, slot, 1, "calm") ? 1.03 : 1.0;
        for (const int back : {1, 2, 3}) left += had(slots, slot, back, "net") ? 0.005 : 0.0;
        return 20.0 * jitter(number) * left;
    });
    const Judged all = judged(run);
    REQUIRE(all.analysis.carry_over.size() == 2);
    CHECK(all.analysis.carry_over[0].slots == 1);
    CHECK(all.analysis.carry_over[0].percent.value == doctest::Approx(3.0).epsilon(0.05));
    CHECK(all.analysis.carry_over[1].slots == 3);
    CHECK(all.analysis.carry_over[1].percent.value == doctest::Approx(1.5).epsilon(0.1));
}

TEST_CASE("a run too short to look for what noise leaves acquits none")
{
    const analysis::DesignedRun run =
        laid(calm_and_net(2, 40000.0), [](std::int64_t number, const Slot&) { return 20.0 * jitter(number); });
    const Judged all = judged(run);
    CHECK(all.analysis.carry_over.empty());
    CHECK(all.on("net").interval.high < 1.0);
    CHECK(all.on("net").verdict == "insensitive");
    CHECK(all.verdict.lacked.at({"net", ""}).find("carry-over cannot be separated") == 0);
}

TEST_CASE("a long step that does not recur hides what a noise does in the slots that it covers")
{
    const std::vector<Slot> slots = calm_and_net(60, 400.0);
    const auto run_with = [&](double longest_ms) {
        bool was_there = false;
        return judged(laid(slots, [&, was_there](std::int64_t number, const Slot& slot) mutable {
            if (was_there || number < 300 || has(slot, "net")) return 20.0 * jitter(number);
            was_there = true;
            return longest_ms;
        }));
    };
    // The 40 slots in steps of 16 s are more than a twentieth of all slots.
    const Judged hidden = run_with(16000.0);
    CHECK(hidden.on("net").verdict == "insensitive");
    CHECK(hidden.verdict.lacked.at({"net", ""}).find(" of its slots lie within steps") != std::string::npos);
    const Judged seen = run_with(800.0);
    CHECK(seen.verdict.lacked.find({"net", ""}) == seen.verdict.lacked.end());
}

TEST_CASE("where one step in seven waits for the work of the others a slot has to hold four of those")
{
    const auto run_with = [&](double slot_ms) {
        return judged(laid(calm_and_net(60, slot_ms), [](std::int64_t number, const Slot&) {
            return (number % 7 == 6 ? 134.0 : 1.0) * jitter(number);
        }));
    };
    const auto says_so = [](const Judged& all) {
        return std::any_of(all.verdict.insensitive.begin(), all.verdict.insensitive.end(), [](const std::string& why) {
            return why.find("is too short to attribute that work") != std::string::npos;
        });
    };
    CHECK(says_so(run_with(400.0)));
    CHECK_FALSE(says_so(run_with(800.0)));
}
