// SPDX-License-Identifier: Apache-2.0
// Tests of reading a neighbour's pressure off known curves.
#include "analysis/predict/prediction.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace {

using analysis::Curve;
using analysis::NeighbourPressure;
using analysis::Predicted;

const Curve curve{{100.0, 2.0, {1.5, 2.5}}, {200.0, 6.0, {5.0, 7.0}}};

NeighbourPressure pressure(std::optional<double> level, double low, std::optional<double> high)
{
    return {"memory.stream", "bytes/s", true, level, low, high};
}

}  // namespace

TEST_CASE("a pressure between two levels costs what the line between them says")
{
    const Predicted exact = analysis::predict(curve, pressure(150.0, 150.0, 150.0));
    CHECK(exact.percent == 4.0);
    // By the error of the training's curve alone: half-way between 1.5 and 5, and between 2.5 and 7.
    CHECK(exact.low == doctest::Approx(3.25));
    CHECK(*exact.high == doctest::Approx(4.75));
    CHECK(analysis::predict(curve, pressure(50.0, 50.0, 50.0)).percent == 1.0);
    CHECK(analysis::predict(curve, pressure(0.0, 0.0, 0.0)).percent == 0.0);
}

TEST_CASE("both errors are in the interval of a prediction")
{
    // By the probe's error alone, 125 to 175 is 3 to 5 %; by the curve's alone +- 0.75.
    const Predicted both = analysis::predict(curve, pressure(150.0, 125.0, 175.0));
    CHECK(both.percent == 4.0);
    CHECK(both.low == doctest::Approx(4.0 - std::sqrt(1.0 + 0.75 * 0.75)));
    CHECK(*both.high == doctest::Approx(4.0 + std::sqrt(1.0 + 0.75 * 0.75)));
}

TEST_CASE("nothing is said outside of what was measured")
{
    const Predicted beyond_curve = analysis::predict(curve, pressure(201.0, 190.0, 210.0));
    CHECK(!beyond_curve.percent);
    CHECK(!beyond_curve.high);
    const Predicted beyond_probe = analysis::predict(curve, pressure(std::nullopt, 150.0, std::nullopt));
    CHECK(!beyond_probe.percent);
    const Predicted open_above = analysis::predict(curve, pressure(190.0, 150.0, 210.0));
    CHECK(open_above.percent == doctest::Approx(5.6));
    CHECK(!open_above.high);
}

TEST_CASE("a curve that falls by chance is read as one that does not")
{
    const Curve falling{{100.0, 3.0, {2.0, 4.0}}, {200.0, 1.0, {0.0, 2.0}}};
    CHECK(*analysis::predict(falling, pressure(150.0, 150.0, 150.0)).percent == doctest::Approx(2.0));
}

TEST_CASE("of memory and cache the larger slowdown counts, and others add up")
{
    const Predicted memory{3.0, 2.0, 4.0};
    const Predicted cache{1.0, 0.0, 2.0};
    const Predicted io{2.0, 1.0, 3.0};
    const Predicted all = analysis::together({{"memory.stream", memory}, {"cache.llc", cache}, {"io.write", io}});
    CHECK(all.percent == 5.0);
    CHECK(all.low == doctest::Approx(5.0 - std::sqrt(2.0)));
    CHECK(*all.high == doctest::Approx(5.0 + std::sqrt(2.0)));
    const Predicted unknown{std::nullopt, 1.0, std::nullopt};
    CHECK(!analysis::together({{"memory.stream", memory}, {"io.write", unknown}}).percent);
}
