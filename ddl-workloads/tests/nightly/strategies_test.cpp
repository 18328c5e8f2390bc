// All strategies with all models, at sizes that take a while.
#include "base/testing.hpp"
#include "ddl-workloads/tests/train_runs.hpp"

#include <doctest/doctest.h>

#include <string>

using testing::Words;

namespace {

Words models()
{
#ifdef CROSSTALK_DDL_TORCH
    return {"emulated[compute=5ms,gradients=4MiB,buckets=8]", "mlp", "resnet18[width=16]", "resnet50[width=4]"};
#else
    return {"emulated[compute=5ms,gradients=4MiB,buckets=8]"};
#endif
}

const Words strategies{"ddp",
                       "ddp[first=4kB,cap=64kB]",
                       "ddp[static_graph=yes]",
                       "ddp[view=yes,cap=64kB]",
                       "ddp[static_graph=yes,view=yes]",
                       "cycle",
                       "cycle[fusion=0B]",
                       "cycle[fusion=64kB,cycle=200us]",
                       "cycle[cache=0]",
                       "cycle[cache=5]",
                       "zero1",
                       "zero1[view=yes,cap=64kB]"};

nlohmann::json train(int ranks, const std::string& model, const std::string& strategy, const Words& more)
{
    const testing::Scratch scratch;
    Words options{"--model", model,     "--data", "synthetic[samples=1600]", "--batch", "4", "--strategy",
                  strategy,  "--trace", "off"};
    options.insert(options.end(), more.begin(), more.end());
    const testing::TrainRun run = testing::train(ranks, scratch / "run", options);
    INFO(model, " ", strategy, ": ", run.err);
    REQUIRE(run.status == 0);
    CHECK(run.result["ranks_agree"] == true);
    return run.result;
}

void check_all_pairs(const Words& more)
{
    for (const std::string& model : models()) {
        const auto naive = train(2, model, "naive", more);
        for (const std::string& strategy : strategies) {
            CAPTURE(model);
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
    for (const std::string& model : models()) {
        const auto naive = train(4, model, "naive", {"--steps", "20"});
        for (const std::string& strategy : strategies) {
            CAPTURE(model);
            CAPTURE(strategy);
            const auto other = train(4, model, strategy, {"--steps", "20"});
            if (naive["loss"].is_null())
                CHECK(other["checksum"] == naive["checksum"]);
            else
                CHECK(other["loss"].get<double>() == doctest::Approx(naive["loss"].get<double>()).epsilon(1e-5));
        }
    }
}

// After more steps small differences have grown large, as they do in any training.
TEST_CASE("half precision begins with about the same losses")
{
    for (const std::string& model : models()) {
        const auto full = train(2, model, "ddp", {"--steps", "5"});
        const auto half = train(2, model, "ddp[hook=fp16]", {"--steps", "5"});
        CHECK(half["bytes_averaged"] == full["bytes_averaged"].get<std::int64_t>() / 2);
        if (!full["loss"].is_null())
            CHECK(half["loss"].get<double>() == doctest::Approx(full["loss"].get<double>()).epsilon(0.05));
    }
}
