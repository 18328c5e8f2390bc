// SPDX-License-Identifier: Apache-2.0
// Tests of the verdict's rules.
#include "analysis/conclude/verdict.hpp"

#include "analysis/conclude/advice.hpp"
#include "base/error.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

using analysis::Looks;
using analysis::Mean;

TEST_CASE("an interval by itself is safe below the budget and unsafe above it and else undecided")
{
    CHECK(analysis::judge({-0.5, 0.9}, 1.0) == "safe");
    CHECK(analysis::judge({1.1, 3.0}, 1.0) == "unsafe");
    CHECK(analysis::judge({0.9, 1.1}, 1.0) == "undecided");
    CHECK(analysis::judge({-3.0, 3.0}, 1.0) == "undecided");
}

namespace {

// The verdict on a noise with this interval, in a run whose controls hold; `alter` changes the run.
template <class Alter>
std::string word_for(analysis::Interval interval, const Alter& alter)
{
    analysis::Verdict verdict;
    analysis::Effect effect;
    analysis::FactorVerdict factor;
    factor.interval = factor.at_worst = factor.at_least = interval;
    effect.percent.value = effect.at_worst.value = effect.whole.value = (interval.low + interval.high) / 2.0;
    alter(verdict, effect, factor);
    analysis::judge(factor, effect, verdict);
    CHECK(factor.why.empty() == (factor.verdict == "safe" || factor.verdict == "unsafe"));
    return factor.verdict;
}

std::string word_for(analysis::Interval interval)
{
    return word_for(interval, [](auto&...) {});
}

}  // namespace

TEST_CASE("a noise is safe below the budget, unsafe above it, insensitive if its interval is wider than that")
{
    CHECK(word_for({-0.5, 0.9}) == "safe");
    CHECK(word_for({1.1, 3.0}) == "unsafe");
    CHECK(word_for({1.1, 30.0}) == "unsafe");
    CHECK(word_for({0.9, 1.1}) == "undecided");
    CHECK(word_for({-0.9, 1.0}) == "undecided");
    CHECK(word_for({-3.0, 3.0}) == "insensitive");
    CHECK(word_for({-2.2, -0.1}) == "insensitive");
    const auto holm = [](double p) {
        return [=](auto&, auto&, analysis::FactorVerdict& factor) { factor.p_holm = p; };
    };
    CHECK(word_for({-1.8, -0.1}, holm(0.05)) == "undecided");  // noise cannot make steps faster
    CHECK(word_for({-1.8, -0.1}, holm(0.06)) == "safe");       // but chance can, with several noises
    CHECK(word_for({-0.5, 3.0}, [](analysis::Verdict& verdict, auto&, auto&) { verdict.budget_percent = 2.0; }) ==
          "undecided");
}

TEST_CASE("a run that is not trustworthy, or saw no known slowdown, acquits no noise but accuses all the same")
{
    const auto untrusted = [](analysis::Verdict& verdict, auto&, auto&) { verdict.trustworthy = false; };
    CHECK(word_for({-0.5, 0.9}, untrusted) == "untrusted");
    CHECK(word_for({1.1, 3.0}, untrusted) == "unsafe");
    CHECK(word_for({0.9, 1.1}, untrusted) == "undecided");
    const auto blind = [](analysis::Verdict& verdict, auto&, auto&) { verdict.insensitive = {"no delay was found"}; };
    CHECK(word_for({-0.5, 0.9}, blind) == "insensitive");
    CHECK(word_for({1.1, 3.0}, blind) == "unsafe");
    CHECK(word_for({0.9, 1.1}, blind) == "undecided");
}

TEST_CASE("a noise whose long steps are so rare that it costs nothing with them is not called unsafe")
{
    const auto whole = [](double percent) {
        return [=](auto&, analysis::Effect& effect, auto&) { effect.whole.value = percent; };
    };
    CHECK(word_for({1.1, 3.0}, whole(0.9)) == "undecided");
    CHECK(word_for({1.1, 3.0}, whole(1.1)) == "unsafe");
    CHECK(word_for({1.1, 3.0}, [](auto&, analysis::Effect& effect, auto&) { effect.whole.standard_error = 1.2; }) ==
          "undecided");
    CHECK(word_for({-0.5, 0.9}, whole(-2.0)) == "safe");
}

TEST_CASE("a noise is unsafe by the sum of what it does and what it leaves only if one of them alone is")
{
    const auto at_least = [](double low) {
        return [=](auto&, auto&, analysis::FactorVerdict& factor) { factor.at_least = {low, 3.0}; };
    };
    CHECK(word_for({1.1, 3.0}, at_least(0.9)) == "undecided");
    CHECK(word_for({1.1, 3.0}, at_least(1.05)) == "unsafe");
}

TEST_CASE("a noise is acquitted only by what it costs with accidents and with what is left in the next slots")
{
    const auto at_worst = [](double value, double high) {
        return [=](auto&, analysis::Effect& effect, analysis::FactorVerdict& factor) {
            effect.at_worst.value = value;
            factor.at_worst = {0.0, high};
        };
    };
    CHECK(word_for({-0.5, 0.9}, at_worst(0.3, 0.9)) == "safe");
    CHECK(word_for({-0.5, 0.9}, at_worst(0.3, 1.2)) == "undecided");    // half width 0.9
    CHECK(word_for({-0.5, 0.9}, at_worst(0.3, 1.4)) == "insensitive");  // half width 1.1
    CHECK(word_for({1.1, 3.0}, at_worst(0.3, 1.4)) == "unsafe");
    CHECK(word_for({-0.5, 0.9}, [](auto&, analysis::Effect& effect, auto&) { effect.lacks_a_stratum = true; }) ==
          "insensitive");
}

TEST_CASE("of a run that ends at a look what is decided leaves its share of error to the others")
{
    // 30 blocks, standard error 0.1: half width on the way 0.328 at 95 %, 0.350 at 97.5 %, 0.363 at
    // 98.33 %.
    const auto looked = [](double percent) { return Mean{percent, 0.1, 29.0, Looks::on_the_way}; };
    const analysis::VerdictRules rules{1.0, 0.95, Looks::on_the_way};
    const std::vector<double> each = analysis::confidences({looked(0.66), looked(0.0), looked(0.645)}, rules);
    CHECK(each[1] == doctest::Approx(1.0 - 0.05 / 3.0));  // safe at the first confidence
    CHECK(each[2] == doctest::Approx(0.975));             // 0.645 + 0.363 exceeds 1, 0.645 + 0.350 does not
    CHECK(each[0] == doctest::Approx(0.95));              // 0.66 + 0.328 < 1
    const std::vector<double> open = analysis::confidences({looked(1.0), looked(0.9), looked(0.0)}, rules);
    CHECK(open[0] == doctest::Approx(0.975));
    CHECK(open[1] == doctest::Approx(0.975));
    for (const double plain :
         analysis::confidences({Mean{0.0, 0.1, 29.0}, Mean{3.0, 0.1, 29.0}}, {1.0, 0.95, Looks::none}))
        CHECK(plain == 0.95);
}

TEST_CASE("a forecast is of the half width and of a whole new run")
{
    // 20 blocks, standard deviation 2.236: 37 blocks give a half width of 2.028 x 2.236 / sqrt(37) = 0.745, 36 blocks
    // 0.757.
    const auto forecast = analysis::forecast(Mean{0.5, 0.5, 19.0}, 0.95, 1.0, 10.0);
    REQUIRE(forecast);
    CHECK(forecast->half_width_percent == doctest::Approx(0.75));
    CHECK(forecast->minutes == doctest::Approx(10.0 * 37.0 / 20.0));
    // The forecast does not depend on the estimate.
    CHECK(analysis::forecast(Mean{-4.0, 0.5, 19.0}, 0.95, 1.0, 10.0)->minutes == forecast->minutes);
}

TEST_CASE("an interval that is narrow already is halved by a run four times as long or a little less")
{
    const auto forecast = analysis::forecast(Mean{1.0, 0.1, 19.0}, 0.95, 1.0, 10.0);
    REQUIRE(forecast);
    CHECK(forecast->half_width_percent == doctest::Approx(2.093 * 0.1 / 2.0).epsilon(0.001));
    CHECK(forecast->minutes > 36.0);
    CHECK(forecast->minutes < 40.0);
}

TEST_CASE("where an interval holds at all looks the forecast is of one that does, too")
{
    // 20 blocks, standard deviation 2.236, rho 0.6: with n blocks the half width is 2.236 / n x sqrt((n 0.36 + 1) /
    // 0.36 x log((n 0.36 + 1) / 0.025^2)), by hand 0.7514 for 100 blocks and 0.7479 for 101.
    Mean looked{0.5, 0.5, 19.0};
    looked.looks = Looks::on_the_way;
    const auto forecast = analysis::forecast(looked, 0.95, 1.0, 10.0);
    REQUIRE(forecast);
    CHECK(forecast->half_width_percent == doctest::Approx(0.75));
    CHECK(forecast->minutes >= 10.0 * 101.0 / 20.0);
    CHECK(forecast->minutes <= 10.0 * 101.0 / 20.0 * 1.03);
    // A higher confidence, for several noises together, takes longer.
    CHECK(analysis::forecast(Mean{0.5, 0.5, 19.0}, 0.975, 1.0, 10.0)->minutes >
          analysis::forecast(Mean{0.5, 0.5, 19.0}, 0.95, 1.0, 10.0)->minutes);
}

TEST_CASE("below ten blocks nothing is forecast and beyond a day no more than that")
{
    CHECK_FALSE(analysis::forecast(Mean{0.5, 0.5, 8.0}, 0.95, 1.0, 10.0));
    CHECK(analysis::forecast(Mean{0.5, 0.5, 9.0}, 0.95, 1.0, 10.0));
    CHECK(analysis::forecast(Mean{0.5, 50.0, 19.0}, 0.95, 1.0, 10.0)->minutes == analysis::forecast_limit_minutes);
}

TEST_CASE("what kept threads from running decides the advice, whose commands stand in it")
{
    const auto first_command = [](const char* evidence) {
        const analysis::Cause cause{"", analysis::Mechanism::compute, "", evidence};
        const analysis::Advice advice = analysis::advice("io.write", cause, "unsafe");
        CHECK(advice.text.find('`') == std::string::npos);
        for (const std::string& command : advice.commands) CHECK(advice.text.find(command) != std::string::npos);
        return advice.commands.at(0);
    };
    CHECK(first_command("softirq") == "echo 0 > /proc/irq/NUMBER/smp_affinity_list");
    CHECK(first_command("own_thread") == "OMP_NUM_THREADS=1");
    CHECK(first_command("throttled") == "--cpus-per-task=4");
    CHECK(first_command("neighbour") == "--cpu-bind=cores");
    CHECK(first_command("steal") == "virsh vcpupin");
    CHECK(first_command("major_faults") == "echo 8G > memory.high");
    CHECK(first_command("") == "echo MASK > /sys/devices/virtual/workqueue/cpumask");
}

TEST_CASE("a neighbour is capped by a group of resctrl that is made, limited and filled with its threads")
{
    for (const char* stressor : {"memory.stream", "cache.llc"})
        for (const auto mechanism :
             {analysis::Mechanism::input, analysis::Mechanism::transfer, analysis::Mechanism::compute}) {
            const analysis::Advice advice = analysis::advice(stressor, {"", mechanism, ""}, "unsafe");
            REQUIRE(advice.commands.size() >= 2);
            const std::string& made = advice.commands[0];
            CHECK(made.starts_with("mkdir /sys/fs/resctrl/neighbours; "));
            CHECK(made.ends_with(" > /sys/fs/resctrl/neighbours/schemata"));
            CHECK(advice.commands[1].find("> /sys/fs/resctrl/neighbours/tasks") != std::string::npos);
        }
}

TEST_CASE("advice depends on what noise got in the way of")
{
    using analysis::Mechanism;
    const auto says = [](const char* stressor, Mechanism mechanism, const char* word) {
        return analysis::advice(stressor, {"", mechanism, ""}, "unsafe").text.find(word) != std::string::npos;
    };
    CHECK(says("memory.stream", Mechanism::compute, "resctrl"));
    CHECK(says("memory.stream", Mechanism::input, "more readers"));
    CHECK(says("network.exchange", Mechanism::compute, "smp_affinity"));
    CHECK(says("network.exchange", Mechanism::transfer, "Licenses=network"));
    CHECK(says("io.write", Mechanism::input, "sbcast"));
    CHECK(says("io.write", Mechanism::checkpoint, "Checkpoints share the disk"));
    CHECK(says("io.write", Mechanism::unknown, "Licenses=scratch"));
    CHECK(says("gpu.copy", Mechanism::input, "nvidia-smi topo -m"));
    CHECK(says("gpu.launch", Mechanism::compute, "ConstrainDevices=yes"));
    CHECK(says("of.another.world", Mechanism::compute, "Keep such jobs off"));
    const analysis::Advice undecided = analysis::advice("io.write", {"", Mechanism::input, ""}, "undecided");
    CHECK(undecided.text.find("measure longer") != std::string::npos);
}
