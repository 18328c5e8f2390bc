// SPDX-License-Identifier: Apache-2.0
// How many cores a job needs, from curves written by hand.
#include "analysis/sections/cores/core_settings.hpp"
#include "analysis/sections/cores/cores.hpp"

#include <doctest/doctest.h>

namespace {

struct Kept {
    int cores;
    double percent;
    double low;
    double high;
    double at_worst;
};

// Points in the order of curves that fall: from the most cores down.
analysis::ResponseCurve curve(const std::vector<Kept>& kept)
{
    analysis::ResponseCurve curve;
    curve.factor = "job.cores";
    curve.falls = true;
    for (const Kept& one : kept) {
        analysis::CurvePoint point;
        point.level = "keep=" + std::to_string(one.cores);
        point.dose = one.cores;
        point.fitted_percent = one.percent;
        point.fitted = {one.low, one.high};
        point.fitted_with_accidents = one.at_worst;
        curve.points.push_back(point);
    }
    return curve;
}

// Numbers whose upper bound is below the budget have the verdict safe, except this one.
analysis::CoresNeeded cores_needed(const std::vector<Kept>& kept, int undecided = 0)
{
    analysis::Verdict verdict;
    verdict.budget_percent = 1.0;
    for (const Kept& one : kept) {
        analysis::FactorVerdict& judged = verdict.factors.emplace_back();
        judged.factor = "job.cores";
        judged.level = "keep=" + std::to_string(one.cores);
        judged.verdict = one.high < 1.0 && one.cores != undecided ? "safe" : "undecided";
    }
    return analysis::cores_needed(curve(kept), verdict);
}

}  // namespace

TEST_CASE("the fewest cores are kept whose upper bound is within the budget, and above which all are")
{
    const analysis::CoresNeeded needed = cores_needed({{16, 0.0, -0.3, 0.3, 0.3},
                                                       {8, 0.1, -0.2, 0.4, 0.4},
                                                       {6, 0.2, -0.1, 0.6, 0.6},
                                                       {4, 50.0, 48.0, 52.0, 52.0},
                                                       {2, 200.0, 190.0, 210.0, 210.0}});
    CHECK(needed.enough == 6);
    CHECK(needed.by_the_curve == 6);
    CHECK(needed.at_least == 5);
    CHECK(needed.most == 16);
    CHECK(needed.not_measured == std::vector<int>{5});
}

TEST_CASE("what may be above the budget is not enough")
{
    const std::vector<Kept> uncertain{{4, 0.1, -0.2, 0.4, 0.4}, {3, 0.8, 0.4, 1.2, 1.2}, {2, 5.0, 4.0, 6.0, 6.0}};
    const analysis::CoresNeeded needed = cores_needed(uncertain);
    CHECK(needed.enough == 4);
    CHECK(needed.by_the_curve == 3);
    CHECK(needed.at_least == 3);
    CHECK(needed.not_measured.empty());
}

TEST_CASE("a number that the verdict does not call safe is not enough, nor is any below it")
{
    const std::vector<Kept> kept{{8, 0.0, -0.3, 0.3, 0.3}, {6, 0.2, -0.1, 0.6, 1.4}, {4, 0.2, -0.1, 0.6, 0.6}};
    CHECK(cores_needed(kept).enough == 4);
    CHECK(cores_needed(kept, 6).enough == 8);
    CHECK(cores_needed(kept, 6).by_the_curve == 4);
    CHECK_FALSE(cores_needed(kept, 8).enough);
}

TEST_CASE("with all cores above the budget no number is enough, with all below it the fewest are")
{
    CHECK_FALSE(cores_needed({{4, 1.0, 0.0, 2.0, 2.0}, {2, 3.0, 2.0, 4.0, 4.0}}).enough);
    const analysis::CoresNeeded needed = cores_needed({{4, 0.0, -0.2, 0.2, 0.2}, {2, 0.0, -0.2, 0.2, 0.2}});
    CHECK(needed.enough == 2);
    CHECK(needed.at_least == 2);
    CHECK(needed.not_measured.empty());
}

TEST_CASE("settings count cores where Slurm does, and CPUs where it counts these")
{
    const analysis::CoresKept gpus{.cores_of_rank = 6,
                                   .cpus_of_rank = 12,
                                   .cpus_of_node = 128,
                                   .kept_of_node = 48,
                                   .kept_list = "0-23,64-87",
                                   .rank_is_gpu = true};
    const std::vector<analysis::CoreSetting> settings = analysis::core_settings(gpus);
    REQUIRE(settings.size() == 3);
    CHECK(settings[0].text == "RestrictedCoresPerGPU=6 for the node");
    CHECK(settings[1].text == "--cpus-per-gpu=12 for the job, MaxCPUsPerNode=80 for the neighbours' partition");
    CHECK(settings[2].text ==
          "cpuManagerPolicy: static and cpu: 12 in a Guaranteed pod, reservedSystemCPUs: "
          "\"0-23,64-87\" for a job outside of pods");
    const std::vector<analysis::CoreSetting> unknown = analysis::core_settings({.cores_of_rank = 3, .kept_list = {}});
    REQUIRE(unknown.size() == 2);
    CHECK(unknown[0].text == "--cpus-per-task=3 for the job");
    CHECK(unknown[1].text == "cpuManagerPolicy: static and cpu: 3 in a Guaranteed pod");
}
