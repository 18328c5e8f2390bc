// SPDX-License-Identifier: Apache-2.0
// Coded trainings, compared with a training by one process.
#include "testing/coded_runs.hpp"
#include "testing/testing.hpp"
#include "testing/train_traces.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

using testing::operator+;
using testing::Words;

#ifdef CROSSTALK_DDL_TORCH

// The nightly test has the other codes, and models.
TEST_CASE("a coded training reaches the loss of one process")
{
    const testing::Scratch scratch;
    testing::check_coded_loss(scratch, {"--model", "mlp[hidden=20]", "--data", "digits", "--batch", "32"}, 5,
                              "coded[grid=2x1,parity=1x1]");
}

TEST_CASE("parity in double precision detects smaller errors")
{
    const testing::Scratch scratch;
    const Words options{"--model", "mlp[hidden=20]", "--data", "digits",  "--batch", "32", "--steps",
                        "30",      "--lr",           "0.01",   "--trace", "off"};
    const testing::TrainRun one = testing::train_alone(scratch / "one", options);
    std::vector<std::string> precisions{"fp64"};
    if (testing::at_night()) precisions.push_back("fp32");
    for (const std::string& precision : precisions) {
        const bool single = precision == "fp32";
        const testing::TrainRun run =
            testing::train(5, scratch / precision,
                           options + Words{"--strategy", "coded[grid=2x1,parity=1x1,check=" + precision + "]"});
        INFO(run.err);
        REQUIRE(run.status == 0);
        CHECK(run.result["loss"].get<double>() == doctest::Approx(one.result["loss"].get<double>()).epsilon(1e-4));
        const auto& found = run.result["code"]["layers"][1]["forward"];
        CHECK(found["smallest_detectable"].get<double>() < (single ? 1e-2 : 1e-8));
        CHECK((found["noise_floor"].get<double>() > 1e-9) == single);
        CHECK((found["noise_floor"].get<double>() < 1e-14) == !single);
    }
}

TEST_CASE("blocks that are encoded anew after each update allow every optimizer")
{
    const testing::Scratch scratch;
    std::vector<std::string> optimizers{"adamw"};
    if (testing::at_night()) optimizers.push_back("sgd");
    for (const std::string& optimizer : optimizers) {
        CAPTURE(optimizer);
        const Words options{"--model", "mlp[hidden=20]", "--data", "digits",      "--batch", "32",      "--steps",
                            "30",      "--lr",           "0.001",  "--optimizer", optimizer, "--trace", "off"};
        const testing::TrainRun one = testing::train_alone(scratch / ("one" + optimizer), options);
        const testing::TrainRun coded =
            testing::train(5, scratch / ("coded" + optimizer),
                           options + Words{"--strategy", "coded[grid=2x1,parity=1x1,reencode=yes]"});
        INFO(one.err, coded.err);
        REQUIRE(coded.status == 0);
        CHECK(coded.result["ranks_agree"] == true);
        CHECK(coded.result["loss"].get<double>() == doctest::Approx(one.result["loss"].get<double>()).epsilon(1e-4));
    }
}

TEST_CASE("a coded training that is not possible is refused in one line")
{
    const testing::Scratch scratch;
    const auto refusal = [&](const std::string& strategy, const Words& more) {
        const testing::TrainRun run =
            testing::train_alone(scratch / "run", Words{"--data", "digits", "--strategy", strategy} + more);
        CHECK(run.status == 2);
        CHECK(!std::filesystem::exists(scratch / "run/train"));
        return run.err;
    };
    const Words mlp{"--model", "mlp"};
    const auto has = [](const std::string& text, const std::string& words) {
        INFO(text);
        CHECK(text.find(words) != std::string::npos);
    };
    has(refusal("coded[grid=5x4]", mlp), "take 38 ranks, not 1");
    has(refusal("coded[code=polydot]", mlp), "needs a model that is a single matrix product: --model product");
    has(refusal("coded[t=2]", mlp), "codenet");
    has(refusal("coded[check=fp16]", mlp), "fp32 or fp64");
    has(refusal("coded[code=uncoded,grid=1x1,copies=2]", mlp), "copies");
    has(refusal("coded[code=uncoded,grid=1x1]", mlp + Words{"--optimizer", "adamw"}), "needs --optimizer sgd");
    has(refusal("coded[code=uncoded,grid=1x1]", mlp + Words{"--optimizer", "adamw"}), "reencode=yes");
    has(refusal("coded[code=uncoded,grid=1x1]", mlp + Words{"--guard", "range"}), "--guard needs");
    has(refusal("coded[code=uncoded,grid=1x1]", {"--model", "emulated"}), "needs a model with fully connected layers");
}

#endif
