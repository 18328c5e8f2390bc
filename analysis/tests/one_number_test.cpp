// SPDX-License-Identifier: Apache-2.0
// Tables, curves, verdicts and the line of a live run have the same number for a noise.
#include "analysis/cli/so_far.hpp"
#include "analysis/conclude/verdict.hpp"
#include "analysis/estimate/simulation.hpp"
#include "analysis/results/numbers.hpp"
#include "analysis/sections/response/response.hpp"
#include "base/contract/factor_name.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using analysis::Effect;
using analysis::Kind;

namespace {

// Random runs of every kind: with and without levels, accidents, stalls, drift, and carry-over.
analysis::Simulation drawn(base::Random& random)
{
    const auto share = [&] { return static_cast<double>(base::draw_below(random, 1000)) / 1000.0; };
    analysis::Simulation what{.effects_percent = {0.0, 20.0 * share(), 4.0 * share()},
                              .deviation = 0.01 + 0.04 * share(),
                              .autocorrelation = 0.6 * share(),
                              .drift = 0.05 * share(),
                              .outlier_rate = 0.02 * share(),
                              .run_s = 30.0 + 60.0 * share()};
    if (share() < 0.5) what.levels = {"rate=1GiB/s", "rate=2GiB/s", "rate=4GiB/s"};
    if (share() < 0.3) what.stalled = 0.02 * share();
    if (share() < 0.3) what.carry_over_percent = {0.0, 6.0 * share(), 0.0};
    return what;
}

bool same(const analysis::Interval& a, const analysis::Interval& b)
{
    return a.low == doctest::Approx(b.low).epsilon(1e-9) && a.high == doctest::Approx(b.high).epsilon(1e-9);
}

}  // namespace

TEST_CASE("fifty random runs have one number for each noise in all tables")
{
    base::Random random{2026};
    std::size_t curves = 0;
    for (int r = 0; r < 50; ++r) {
        CAPTURE(r);
        analysis::SimulatedRun simulated = analysis::simulate(drawn(random), random);
        analysis::RunSoFar so_far;
        so_far.steps = simulated.steps;
        so_far.slots = simulated.slots;
        so_far.design = analysis::Design::rotation;
        analysis::DesignedRun run;
        run.plan = analysis::experiment(analysis::Design::rotation, simulated.slots);
        run.steps = std::move(simulated.steps);
        run.slots.push_back(std::move(simulated.slots));
        run.stopped.emplace_back();
        const analysis::Analysis result = analysis::analyse(run, {.draws = {.count = 0}});
        const analysis::Verdict verdict = analysis::verdict(run, result, {}, {});
        analysis::Settings settings;
        const std::string line = analysis::so_far(so_far, settings).line;
        for (const analysis::FactorVerdict& factor : verdict.factors) {
            CAPTURE(factor.factor);
            CAPTURE(factor.level);
            const Effect* effect = analysis::find(result.effects, factor.factor, factor.level, Kind::alone, "step");
            REQUIRE(effect != nullptr);
            CHECK(factor.percent.value == effect->percent.value);
            CHECK(same(factor.interval, effect->percent.interval(0.95)));
            const Effect* rank = analysis::find(result.effects, factor.factor, factor.level, Kind::alone, "step", 0);
            REQUIRE(rank != nullptr);
            CHECK(rank->percent.value == doctest::Approx(effect->percent.value).epsilon(1e-9));
            double phases = 0.0;
            for (const std::string& phase : run.steps.phases)
                phases +=
                    analysis::find(result.effects, factor.factor, factor.level, Kind::alone, phase)->percent.value;
            CHECK(phases == doctest::Approx(effect->percent.value).epsilon(1e-6));
            CHECK(line.find(base::factor_name(factor.factor, factor.level) + " " +
                            analysis::signed_percent(factor.percent.value)) != std::string::npos);
        }
        const std::vector<analysis::ResponseCurve> all =
            analysis::response_curves({{{&run, &result}}}, {}, {.budget_percent = 1.0, .confidence = 0.95});
        for (const analysis::ResponseCurve& curve : all) {
            ++curves;
            for (const analysis::CurvePoint& point : curve.points) {
                const Effect* effect = analysis::find(result.effects, curve.factor, point.level, Kind::alone, "step");
                REQUIRE(effect != nullptr);
                CHECK(point.percent.value == doctest::Approx(effect->percent.value).epsilon(1e-9));
                CHECK(same(point.percent.interval(0.95), effect->percent.interval(0.95)));
            }
            // A curve does not call a level safe that the level's own verdict could not call safe.
            if (curve.tolerated.low && *curve.tolerated.low >= curve.points.front().dose)
                for (const analysis::CurvePoint& point : curve.points)
                    if (point.dose <= *curve.tolerated.low) {
                        const Effect* effect =
                            analysis::find(result.effects, curve.factor, point.level, Kind::alone, "step");
                        CHECK(effect->percent.interval(0.95).high < 1.0);
                        CHECK(effect->at_worst.interval(0.95).high < 1.0);
                    }
        }
    }
    CHECK(curves > 10);
}
