// The verdict's rules.
#include "analysis/conclude/verdict.hpp"

#include "analysis/conclude/advice.hpp"
#include "base/error.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

using analysis::Mean;

TEST_CASE("an interval by itself is safe below the budget and unsafe above it and else undecided")
{
    CHECK(analysis::judge({-0.5, 0.9}, 1.0) == "safe");
    CHECK(analysis::judge({1.1, 3.0}, 1.0) == "unsafe");
    CHECK(analysis::judge({0.9, 1.1}, 1.0) == "undecided");
    CHECK(analysis::judge({-3.0, 3.0}, 1.0) == "undecided");
}

namespace {

// The word for a noise whose interval is this, in a run whose controls hold; `alter` makes it another run.
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
    CHECK(word_for({-1.8, -0.1}) == "undecided");  // no noise makes steps faster
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
    CHECK(word_for({-0.5, 0.9}, at_worst(0.3, 1.2)) == "undecided");    // 0.9 beyond its value
    CHECK(word_for({-0.5, 0.9}, at_worst(0.3, 1.4)) == "insensitive");  // 1.1 beyond it
    CHECK(word_for({1.1, 3.0}, at_worst(0.3, 1.4)) == "unsafe");
    CHECK(word_for({-0.5, 0.9}, [](auto&, analysis::Effect& effect, auto&) { effect.lacks_a_stratum = true; }) ==
          "insensitive");
}

TEST_CASE("of a run that ends at a look what is decided leaves its share of error to the others")
{
    // 30 blocks, standard error 0.1: half widths of 0.304 at 95 %, 0.328 at 97.5 %, 0.341 at 98.33 %.
    const auto looked = [](double percent) { return Mean{percent, 0.1, 29.0, true}; };
    const analysis::VerdictRules rules{1.0, 0.95, true};
    const std::vector<double> each = analysis::confidences({looked(0.69), looked(0.0), looked(0.665)}, rules);
    CHECK(each[1] == doctest::Approx(1.0 - 0.05 / 3.0));  // safe at once
    CHECK(each[2] == doctest::Approx(0.975));             // 0.665 + 0.341 is too much, + 0.328 is not
    CHECK(each[0] == doctest::Approx(0.95));              // 0.69 + 0.304 < 1
    const std::vector<double> open = analysis::confidences({looked(1.0), looked(0.9), looked(0.0)}, rules);
    CHECK(open[0] == doctest::Approx(0.975));
    CHECK(open[1] == doctest::Approx(0.975));
    for (const double plain : analysis::confidences({Mean{0.0, 0.1, 29.0}, Mean{3.0, 0.1, 29.0}}, {1.0, 0.95, false}))
        CHECK(plain == 0.95);
}

TEST_CASE("a forecast is of the half width and of a whole new run")
{
    // 20 blocks, standard deviation 2.236: 37 blocks give 2.028 x 2.236 / sqrt(37) = 0.745, 36 blocks 0.757.
    const auto forecast = analysis::forecast(Mean{0.5, 0.5, 19.0}, 0.95, 1.0, 10.0);
    REQUIRE(forecast);
    CHECK(forecast->half_width_percent == doctest::Approx(0.75));
    CHECK(forecast->minutes == doctest::Approx(10.0 * 37.0 / 20.0));
    // The estimate has no part in it.
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
    // 20 blocks, standard deviation 2.236, rho 0.6: with n blocks the half width is 2.236 / n x
    // sqrt((n 0.36 + 1) / 0.36 x log((n 0.36 + 1) / 0.05^2)), by hand 0.7533 of 86 blocks and 0.7493 of 87.
    Mean looked{0.5, 0.5, 19.0};
    looked.looked_at = true;
    const auto forecast = analysis::forecast(looked, 0.95, 1.0, 10.0);
    REQUIRE(forecast);
    CHECK(forecast->half_width_percent == doctest::Approx(0.75));
    CHECK(forecast->minutes >= 10.0 * 87.0 / 20.0);
    CHECK(forecast->minutes <= 10.0 * 87.0 / 20.0 * 1.03);
    // At the confidence of several noises together it takes longer.
    CHECK(analysis::forecast(Mean{0.5, 0.5, 19.0}, 0.975, 1.0, 10.0)->minutes >
          analysis::forecast(Mean{0.5, 0.5, 19.0}, 0.95, 1.0, 10.0)->minutes);
}

TEST_CASE("below ten blocks nothing is forecast and beyond a day no more than that")
{
    CHECK_FALSE(analysis::forecast(Mean{0.5, 0.5, 8.0}, 0.95, 1.0, 10.0));
    CHECK(analysis::forecast(Mean{0.5, 0.5, 9.0}, 0.95, 1.0, 10.0));
    CHECK(analysis::forecast(Mean{0.5, 50.0, 19.0}, 0.95, 1.0, 10.0)->minutes == analysis::forecast_limit_minutes);
}

TEST_CASE("advice depends on what noise got in the way of")
{
    using analysis::Mechanism;
    const auto says = [](const char* stressor, Mechanism mechanism, const char* word) {
        return analysis::advice(stressor, mechanism, "unsafe").find(word) != std::string::npos;
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
    CHECK(analysis::advice("io.write", Mechanism::input, "undecided").find("measure longer") != std::string::npos);
}

namespace {

// One rank, slots of ten steps of the given lengths in ms.
struct Lengths {
    double placebo = 100.0;
    double mem = 110.0;
    double sham = 103.0;  // its barriers cost three
    double delayed = 108.0;
    double recorded_delay = 5.0;   // in the steps of control.delay
    double paused = 0.0;           // 0: no control.pause in the schedule
    double stopped = 0.0;          // of its steps, the process is stopped
    double stopped_once = 0.0;     // every thirtieth of its steps is longer by this, for which the process is stopped
    double another_placebo = 0.0;  // 0: none in the schedule; as the next one
    double another_delay = 0.0;
    bool with_delay = true;
    bool with_sham = true;
    bool computes_on_gpu = false;
    int blocks = 12;
    int draws = 999;
};

struct Made {
    analysis::DesignedRun run;
    analysis::Analysis analysis;
};

std::vector<std::pair<std::vector<analysis::Assigned>, double>> treatments_of(const Lengths& lengths)
{
    std::vector<std::pair<std::vector<analysis::Assigned>, double>> treatments{
        {{}, 100.0}, {{{"mem", "", "memory.stream"}}, lengths.mem}};
    if (lengths.placebo > 0.0)
        treatments.push_back({{{"placebo", "", "placebo", base::Role::placebo}}, lengths.placebo});
    if (lengths.with_delay)
        treatments.push_back({{{"delay", "", "control.delay", base::Role::delay}}, lengths.delayed});
    if (lengths.with_sham) treatments.push_back({{{"sham", "", "control.sham", base::Role::sham}}, lengths.sham});
    if (lengths.another_placebo > 0.0)
        treatments.push_back({{{"idle", "", "placebo", base::Role::placebo}}, lengths.another_placebo});
    if (lengths.another_delay > 0.0)
        treatments.push_back({{{"late", "", "control.delay", base::Role::delay}}, lengths.another_delay});
    if (lengths.paused > 0.0)
        treatments.push_back({{{"pause", "", "control.pause", base::Role::pause}}, lengths.paused});
    return treatments;
}

Made made(const Lengths& lengths)
{
    const auto treatments = treatments_of(lengths);
    std::vector<analysis::Slot> slots;
    Made result;
    result.run.computes_while_stopped = result.run.computes_on_gpu = lengths.computes_on_gpu;
    analysis::RankSteps& rank = result.run.steps.ranks.emplace_back();
    std::vector<analysis::TimeSpan>& stopped = result.run.stopped.emplace_back();
    result.run.steps.phases = {"backward", "control_delay"};
    std::vector<double> delays;
    std::int64_t time = 0;
    int paused_steps = 0;
    for (int block = 0; block < lengths.blocks; ++block)
        for (std::size_t t = 0; t < treatments.size(); ++t) {
            const auto& [on, ms] = treatments[(t + static_cast<std::size_t>(block)) % treatments.size()];
            const std::string stressor = on.empty() ? "" : on[0].stressor;
            const std::int64_t begin = time;
            // No two slots are quite alike: without a spread rounding errors would count as effects.
            const auto b = static_cast<std::size_t>(block);
            const double slot_ms =
                0.01 * static_cast<double>((b * b * 31 + b * t * 17 + t * t * 5 + 27) * 133 % 1009 % 7);
            for (int i = 0; i < 10; ++i) {
                result.run.steps.numbers.push_back(static_cast<std::int64_t>(rank.begin_ns.size()));
                rank.begin_ns.push_back(time);
                const bool once = stressor == "control.pause" && ++paused_steps % 30 == 0;
                const double longer = once ? lengths.stopped_once : 0.0;
                const double stopped_ms = lengths.stopped + longer;
                if (stressor == "control.pause" && stopped_ms > 0.0)
                    stopped.push_back(
                        {time + 10'000'000, time + 10'000'000 + static_cast<std::int64_t>(stopped_ms * 1e6)});
                time += static_cast<std::int64_t>((ms + longer + 0.1 * (block % 3) + slot_ms + 0.01 * i) * 1e6);
                rank.end_ns.push_back(time);
                delays.push_back(stressor == "control.delay" ? lengths.recorded_delay : 0.0);
            }
            slots.push_back({block, begin, time, on});
        }
    rank.phase_ms.resize(static_cast<Eigen::Index>(delays.size()), 2);
    for (Eigen::Index i = 0; i < rank.phase_ms.rows(); ++i) {
        const auto at = static_cast<std::size_t>(i);
        rank.phase_ms(i, 1) = delays[at];
        rank.phase_ms(i, 0) = static_cast<double>(rank.end_ns[at] - rank.begin_ns[at]) / 1e6 - delays[at];
    }
    result.run.plan = analysis::experiment(analysis::Design::rotation, slots);
    result.run.slots = {slots};
    result.analysis =
        analysis::analyse(result.run, {.exposure = {.warm_up_steps = 0}, .draws = {.count = lengths.draws}});
    return result;
}

analysis::Verdict verdict_of(const Made& made, const std::vector<std::string>& broken = {})
{
    return analysis::verdict(made.run, made.analysis, broken, {});
}

bool says(const analysis::Verdict& verdict, const std::string& word)
{
    return std::any_of(verdict.reasons.begin(), verdict.reasons.end(),
                       [&](const std::string& reason) { return reason.find(word) != std::string::npos; });
}

}  // namespace

TEST_CASE("a run whose controls hold is trustworthy")
{
    const analysis::Verdict verdict = verdict_of(made({}));
    CHECK(verdict.trustworthy);
    CHECK(verdict.covered);
    REQUIRE(verdict.delay);
    CHECK(verdict.delay->true_percent == doctest::Approx(5.0).epsilon(0.01));
    REQUIRE(verdict.factors.size() == 1);
    CHECK(verdict.factors[0].verdict == "unsafe");
    CHECK(verdict.factors[0].cause.phase == "backward");
    CHECK(verdict.factors[0].cause.mechanism == analysis::Mechanism::compute);
    CHECK(verdict.factors[0].setting == analysis::advice("memory.stream", analysis::Mechanism::compute, "unsafe"));
}

TEST_CASE("what would be safe in a run that is not trustworthy is untrusted, and what is unsafe is that there too")
{
    const auto word = [](double mem, const std::vector<std::string>& broken) {
        const analysis::Verdict verdict = verdict_of(made({.mem = mem}), broken);
        REQUIRE(verdict.factors.size() == 1);
        return verdict.factors[0].verdict;
    };
    CHECK(word(100.3, {}) == "safe");
    CHECK(word(100.3, {"noise came late"}) == "untrusted");
    CHECK(word(110.0, {"noise came late"}) == "unsafe");
}

TEST_CASE("a run that did not find its control delay is insensitive: it acquits no noise")
{
    // A delay of 0.01 %, where slots differ by up to 0.06 %: its interval holds both the truth and zero.
    const analysis::Verdict blind = verdict_of(made({.mem = 100.3, .delayed = 103.0, .recorded_delay = 0.01}));
    CHECK(blind.trustworthy);
    REQUIRE(blind.delay);
    CHECK(blind.delay->holds);
    CHECK_FALSE(blind.delay->found);
    REQUIRE(blind.insensitive.size() == 1);
    CHECK(blind.insensitive[0].find("the control delay of 0.01 % was not found") != std::string::npos);
    CHECK(blind.factors.at(0).verdict == "insensitive");
    CHECK(blind.factors.at(0).why == blind.insensitive[0]);
    CHECK_FALSE(analysis::decided(blind));
    // An unsafe noise is seen without it.
    CHECK(verdict_of(made({.delayed = 103.0, .recorded_delay = 0.01})).factors.at(0).verdict == "unsafe");
    CHECK(verdict_of(made({.mem = 100.3})).insensitive.empty());
}

TEST_CASE("whether a run can be trusted does not depend on the budget")
{
    const Made run = made({.placebo = 102.0});
    for (const double budget : {0.1, 1.0, 50.0}) {
        const analysis::Verdict verdict = analysis::verdict(run.run, run.analysis, {}, {.budget_percent = budget});
        CHECK_FALSE(verdict.trustworthy);
        CHECK(verdict.reasons == verdict_of(run).reasons);
    }
}

TEST_CASE("a placebo with an effect is distrusted")
{
    const analysis::Verdict verdict = verdict_of(made({.placebo = 102.0}));
    CHECK_FALSE(verdict.trustworthy);
    CHECK(says(verdict, "the placebo came out as 2.00 %"));
}

TEST_CASE("a delay that measures as something else is distrusted")
{
    const analysis::Verdict verdict = verdict_of(made({.delayed = 106.0}));
    CHECK_FALSE(verdict.trustworthy);
    CHECK(says(verdict, "the control delay came out as"));
}

TEST_CASE("a control that the training never heard of is not connected")
{
    const analysis::Verdict verdict = verdict_of(made({.sham = 100.0, .delayed = 100.0, .recorded_delay = 0.0}));
    CHECK_FALSE(verdict.trustworthy);
    CHECK(says(verdict, "not connected"));
}

TEST_CASE("a schedule without controls proves nothing")
{
    const analysis::Verdict verdict = verdict_of(made({.placebo = 0.0, .with_delay = false, .with_sham = false}));
    CHECK_FALSE(verdict.trustworthy);
    CHECK(says(verdict, "no placebo"));
    CHECK(says(verdict, "neither control.delay nor control.pause"));
    CHECK(verdict.covered);
    REQUIRE(verdict.insensitive.size() == 1);
    CHECK(verdict.insensitive[0].find("no positive control") != std::string::npos);
}

TEST_CASE("a broken promise of the noise is distrusted")
{
    const analysis::Verdict verdict = verdict_of(made({}), {"no noise process on the node of rank 1"});
    CHECK_FALSE(verdict.trustworthy);
    CHECK_FALSE(verdict.covered);
    CHECK(says(verdict, "rank 1"));
}

TEST_CASE("the delay is measured against the sham, and what the barriers cost is reported by itself")
{
    const analysis::Verdict verdict = verdict_of(made({}));
    REQUIRE(verdict.delay);
    REQUIRE(verdict.sham);
    CHECK(verdict.delay->percent.value == doctest::Approx(5.0).epsilon(0.01));
    CHECK(verdict.sham->percent.value == doctest::Approx(3.0).epsilon(0.01));
}

TEST_CASE("a delay without a sham counts its barriers and is distrusted")
{
    const analysis::Verdict verdict = verdict_of(made({.with_sham = false}));
    CHECK_FALSE(verdict.trustworthy);
    CHECK(says(verdict, "no control.sham"));
    CHECK(verdict.delay->percent.value == doctest::Approx(8.0).epsilon(0.01));
}

TEST_CASE("a pause that costs what was stopped is enough of a positive control")
{
    const analysis::Verdict verdict =
        verdict_of(made({.paused = 104.0, .stopped = 4.0, .with_delay = false, .with_sham = false}));
    CHECK(verdict.trustworthy);
    REQUIRE(verdict.pause);
    CHECK(verdict.pause->true_percent == doctest::Approx(4.0).epsilon(0.01));
}

TEST_CASE("a pause that measures as something else than what was stopped is distrusted")
{
    const analysis::Verdict verdict = verdict_of(made({.paused = 101.0, .stopped = 4.0}));
    CHECK_FALSE(verdict.trustworthy);
    CHECK(says(verdict, "the control pause came out as"));
    CHECK_FALSE(says(verdict, "steps that come by time"));
}

TEST_CASE("steps that a pause does not lengthen come by time, which is a reason")
{
    const analysis::Verdict verdict = verdict_of(made({.paused = 100.0, .stopped = 4.0}));
    CHECK_FALSE(verdict.trustworthy);
    CHECK(says(verdict, "steps that come by time, such as lines of a progress report, show no slowdown"));
}

TEST_CASE("steps that a pause made far longer than the others are no outliers")
{
    // 4 of 120 steps of 100 ms are stopped for 60 ms: 2 % of a step in the mean.
    const Made run = made({.paused = 100.0, .stopped_once = 60.0});
    CHECK(run.analysis.long_steps.count() == 0);
    const analysis::Verdict verdict = verdict_of(run);
    REQUIRE(verdict.pause);
    CHECK(verdict.pause->percent.value == doctest::Approx(2.0).epsilon(0.01));
    CHECK(verdict.pause->true_percent == doctest::Approx(2.0).epsilon(0.01));
}

TEST_CASE("an accident in a step that was stopped is an outlier all the same")
{
    Made run = made({.paused = 100.0, .stopped_once = 60.0});
    const analysis::TimeSpan stop = run.run.stopped.front().front();
    analysis::RankSteps& rank = run.run.steps.ranks.front();
    std::size_t hit = 0;
    while (rank.end_ns[hit] < stop.end_ns) ++hit;
    const auto outliers_if_longer_by = [&](std::int64_t ns) {
        analysis::DesignedRun longer = run.run;
        longer.steps.ranks.front().end_ns[hit] += ns;
        return analysis::analyse(longer, {.exposure = {.warm_up_steps = 0}, .draws = {.count = 0}}).long_steps.count();
    };
    CHECK(outliers_if_longer_by(50'000'000) == 0);  // what a stop leaves behind
    CHECK(outliers_if_longer_by(200'000'000) == 1);
}

TEST_CASE("of several controls of a kind each is judged and the one that fails is shown by its name")
{
    const analysis::Verdict fine = verdict_of(made({.another_placebo = 100.0, .another_delay = 108.0}));
    CHECK(fine.trustworthy);
    const analysis::Verdict placebo = verdict_of(made({.another_placebo = 102.0}));
    CHECK_FALSE(placebo.trustworthy);
    CHECK(says(placebo, "the placebo 'idle' came out as "));
    CHECK(placebo.placebo->percent.value == doctest::Approx(2.0).epsilon(0.01));
    // Both delays are measured against the sham, which takes 103 ms, and both were recorded as 5 ms.
    const analysis::Verdict delay = verdict_of(made({.another_delay = 106.0}));
    CHECK_FALSE(delay.trustworthy);
    CHECK(says(delay, "the control delay 'late' came out as 3.00 %"));
}

TEST_CASE("a pause that stopped nothing is not connected")
{
    const analysis::Verdict verdict = verdict_of(made({.paused = 100.0}));
    CHECK_FALSE(verdict.trustworthy);
    CHECK(says(verdict, "no process of the training was stopped"));
}

TEST_CASE("a pause is not judged where the training computes while it is stopped, and is no positive control there")
{
    const Lengths on_a_gpu{.paused = 100.0, .stopped = 4.0, .computes_on_gpu = true};
    const analysis::Verdict with_delay = verdict_of(made(on_a_gpu));
    CHECK(with_delay.trustworthy);
    CHECK_FALSE(with_delay.pause->judged);
    Lengths without_delay = on_a_gpu;
    without_delay.with_delay = without_delay.with_sham = false;
    CHECK(says(verdict_of(made(without_delay)), "computes while it is stopped"));
}

TEST_CASE("where a GPU may hide a delay and nothing is known of it the way to know is said")
{
    const char* const way = "ddl-train --trace-gpu records it";
    CHECK(says(verdict_of(made({.delayed = 103.0, .computes_on_gpu = true})), way));
    CHECK_FALSE(says(verdict_of(made({.delayed = 103.0})), way));
    CHECK_FALSE(says(verdict_of(made({.computes_on_gpu = true})), way));
}

TEST_CASE("no cause is named where the slowdown may be chance")
{
    const Made run = made({});
    const analysis::Effect* found = analysis::find(run.analysis.effects, "mem", "", analysis::Kind::alone, "step");
    REQUIRE(found != nullptr);
    CHECK(analysis::cause_of(run.run, run.analysis, *found, 0.95).phase == "backward");
    analysis::Effect step = *found;
    step.p_holm = 0.06;
    analysis::Cause cause = analysis::cause_of(run.run, run.analysis, step, 0.95);
    CHECK(cause.phase.empty());
    CHECK(cause.mechanism == analysis::Mechanism::unknown);
    CHECK(cause.sentence.find("p 0.06") != std::string::npos);
    step = *found;
    step.percent.value = 0.0;
    cause = analysis::cause_of(run.run, run.analysis, step, 0.95);
    CHECK(cause.phase.empty());
    CHECK(cause.sentence == "No slowdown that differs from zero.");
}

TEST_CASE("no cause is named where blocks or draws are too few for any effect to be told from chance")
{
    const auto said = [](const Lengths& lengths) { return verdict_of(made(lengths)).factors.at(0).cause.sentence; };
    // In each block mem and quiet can change places: 4 blocks have 16 orders, so that p is at least 1/16.
    CHECK(said({.blocks = 4}).find("too few blocks") != std::string::npos);
    // The order as drawn and nine more.
    CHECK(said({.draws = 9}).find("too few draws") != std::string::npos);
    CHECK(said({}).find("too few") == std::string::npos);
}

TEST_CASE("a trace without phases carries no cause")
{
    Made run = made({});
    run.run.steps.phases = {"other"};
    const analysis::Effect* step = analysis::find(run.analysis.effects, "mem", "", analysis::Kind::alone, "step");
    const analysis::Cause cause = analysis::cause_of(run.run, run.analysis, *step, 0.95);
    CHECK(cause.phase.empty());
    CHECK(cause.sentence == "The archive records no phases.");
}
