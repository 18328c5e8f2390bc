// SPDX-License-Identifier: Apache-2.0
// Coded trainings beside the same training by one process.
#pragma once

#include "testing/testing.hpp"
#include "testing/train_runs.hpp"

#include <doctest/doctest.h>

#include <string>

namespace testing {

// After 200 steps the losses differ by 1e-4 at most, relative to the loss.
inline void check_coded_loss(const Scratch& scratch, const Words& training, int ranks, const std::string& strategy)
{
    static int number = 0;
    CAPTURE(strategy);
    CAPTURE(training);
    const std::string name = std::to_string(number++);
    const Words options = training + Words{"--steps", "200", "--lr", "0.01", "--trace", "off"};
    const TrainRun one = train_alone(scratch / ("one" + name), options);
    const TrainRun coded = train(ranks, scratch / ("coded" + name), options + Words{"--strategy", strategy});
    INFO(one.err, coded.err);
    REQUIRE(one.status == 0);
    REQUIRE(coded.status == 0);
    CHECK(coded.result["ranks_agree"] == true);
    CHECK(coded.result["loss"].get<double>() == doctest::Approx(one.result["loss"].get<double>()).epsilon(1e-4));
    CHECK(coded.result["accuracy"].get<double>() == doctest::Approx(one.result["accuracy"].get<double>()));
}

}  // namespace testing
