// SPDX-License-Identifier: Apache-2.0
// Strategies and models at sizes that take long.
#include "testing/testing.hpp"
#include "testing/train_runs.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

using testing::Words;

namespace {

Words of_images(const std::string& model)
{
    return {"--model", model, "--data", "synthetic[samples=1600]"};
}

std::vector<Words> models(const testing::Scratch& scratch)
{
    Words gpt = testing::some_text(scratch / "text", 32);
    gpt.insert(gpt.begin(), {"--model", "gpt[layers=2,width=64,heads=4]"});
    return testing::every_model({{"emulated", of_images("emulated[compute=5ms,gradients=4MiB,buckets=8]")},
                                 {"synthetic", of_images("synthetic[bytes=1MiB/4kB/256kB/4B,flops=1e6]")},
                                 {"resnet18", of_images("resnet18[width=16]")},
                                 {"resnet34", of_images("resnet34[width=8]")},
                                 {"resnet50", of_images("resnet50[width=4]")},
                                 {"gpt", gpt},
                                 {"product", {}},
                                 {"dlrm", {"--model", "dlrm", "--data", "clicks[samples=1600]"}}});
}

Words strategies()
{
    return testing::every_strategy(
        {{"ddp",
          {"ddp", "ddp[view=no]", "ddp[view=no,first=4kB,cap=64kB]", "ddp[view=no,static_graph=yes]", "ddp[cap=64kB]",
           "ddp[static_graph=yes]"}},
         {"cycle", {"cycle", "cycle[fusion=0B]", "cycle[fusion=64kB,cycle=200us]", "cycle[cache=0]", "cycle[cache=5]"}},
         {"zero1", {"zero1", "zero1[view=no]", "zero1[cap=64kB]"}}});
}

nlohmann::json train(int ranks, const Words& model, const std::string& strategy, const Words& more)
{
    const testing::Scratch scratch;
    Words options{"--batch", "4", "--strategy", strategy, "--trace", "off"};
    options.insert(options.end(), model.begin(), model.end());
    options.insert(options.end(), more.begin(), more.end());
    const testing::TrainRun run = testing::train(ranks, scratch / "run", options);
    INFO(model[1], " ", strategy, ": ", run.err);
    REQUIRE(run.status == 0);
    CHECK(run.result["ranks_agree"] == true);
    return run.result;
}

void check_all_pairs(const Words& more)
{
    const testing::Scratch scratch;
    for (const Words& model : models(scratch)) {
        const auto naive = train(2, model, "naive", more);
        for (const std::string& strategy : strategies()) {
            CAPTURE(model[1]);
            CAPTURE(strategy);
            CHECK(train(2, model, strategy, more)["checksum"] == naive["checksum"]);
        }
    }
}

}  // namespace

TEST_CASE("two ranks end with the same bits for every model and strategy")
{
    check_all_pairs({"--steps", "50"});
}

TEST_CASE("two ranks end with the same bits when passes add up")
{
    check_all_pairs({"--steps", "20", "--accumulate", "2", "--optimizer", "adamw"});
}

TEST_CASE("four ranks end with the same loss but for the order in which floats are added")
{
    const testing::Scratch scratch;
    for (const Words& model : models(scratch)) {
        const auto naive = train(4, model, "naive", {"--steps", "20"});
        for (const std::string& strategy : strategies()) {
            CAPTURE(model[1]);
            CAPTURE(strategy);
            const auto other = train(4, model, strategy, {"--steps", "20"});
            if (naive["loss"].is_null())
                CHECK(other["checksum"] == naive["checksum"]);
            else
                CHECK(other["loss"].get<double>() == doctest::Approx(naive["loss"].get<double>()).epsilon(1e-5));
        }
    }
}

// Only the first steps are compared: small differences grow in any training.
TEST_CASE("half precision begins with about the same losses")
{
    const testing::Scratch scratch;
    for (const Words& model : models(scratch)) {
        const auto full = train(2, model, "ddp", {"--steps", "5"});
        const auto half = train(2, model, "ddp[hook=fp16]", {"--steps", "5"});
        CHECK(half["bytes_averaged"] == full["bytes_averaged"].get<std::int64_t>() / 2);
        if (!full["loss"].is_null())
            CHECK(half["loss"].get<double>() == doctest::Approx(full["loss"].get<double>()).epsilon(0.05));
    }
}

#ifdef CROSSTALK_DDL_TORCH
TEST_CASE("resnet18 reaches 95 percent accuracy on digits kept apart")
{
    const testing::Scratch scratch;
    const testing::TrainRun run = testing::train_alone(
        scratch / "run", {"--model", "resnet18[width=4]", "--batch", "16", "--epochs", "3", "--lr", "0.05"});
    REQUIRE(run.status == 0);
    CHECK(run.result["accuracy"].get<double>() >= 0.95);
}
#endif
