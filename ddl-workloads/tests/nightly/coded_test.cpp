// SPDX-License-Identifier: Apache-2.0
// Every code and every kind of model with fully connected layers, compared with a training by one process.
#include "testing/coded_runs.hpp"
#include "testing/testing.hpp"
#include "testing/train_traces.hpp"

#include <doctest/doctest.h>

using testing::operator+;
using testing::Words;

#ifdef CROSSTALK_DDL_TORCH

TEST_CASE("every code reaches the loss of one process")
{
    const testing::Scratch scratch;
    struct Case {
        std::string strategy;
        int ranks;
    };
    for (const auto& [strategy, ranks] :
         {Case{"coded[code=uncoded,grid=3x2]", 6}, Case{"coded[code=replication,grid=2x1]", 4},
          Case{"coded[code=replication,grid=1x2,copies=3]", 6}, Case{"coded[grid=3x2,parity=1x1]", 11}})
        for (const std::string batch : {"1", "32"})
            testing::check_coded_loss(scratch, {"--model", "mlp[hidden=20]", "--data", "digits", "--batch", batch},
                                      ranks, strategy);
}

TEST_CASE("5x4 blocks with parity 2x2 train on 38 ranks")
{
    const testing::Scratch scratch;
    testing::check_coded_loss(scratch, {"--model", "mlp[hidden=20]", "--data", "digits"}, 38, "coded[grid=5x4]");
}

TEST_CASE("coded layers of a transformer and of a residual network reach the loss of one process")
{
    const testing::Scratch scratch;
    const Words gpt = Words{"--model", "gpt[layers=2,width=16,heads=2]"} + testing::some_text(scratch / "text", 12);
    const Words resnet{"--model", "resnet18[width=4]", "--data", "digits"};
    const std::string strategy = "coded[grid=2x2,parity=1x1]";
    testing::check_coded_loss(scratch, gpt, 8, strategy);
    // Rounding alone soon parts trainings of a residual network: one process with two threads, too, has another loss.
    testing::check_coded_loss(scratch, resnet, 8, strategy, {"--steps", "5", "--lr", "0.001"});
}

TEST_CASE("of 1,000 errors none is missed, and 10,000 products without errors raise no alarm")
{
    struct Case {
        std::string code;
        int ranks;
        std::string rate;
    };
    const Words all = Words{"--model", "mlp[hidden=32]", "--data", "digits", "--batch", "8"} +
                      Words{"--lr", "0.0001", "--steps", "6000", "--trace", "off", "--checkpoint-every", "10"} +
                      Words{"--checkpoint-by", "sharded", "--checkpoint-fsync", "no", "--checkpoint-keep", "1"};
    for (const auto& [code, ranks, rate] :
         {Case{"grid=2x1,parity=2x2", 8, "0.0036"}, Case{"code=replication,grid=2x1,copies=3", 6, "0.004"}}) {
        CAPTURE(code);
        const testing::Scratch scratch;
        const Words training = all + Words{"--strategy", "coded[" + code + "]"};
        const testing::TrainRun sound = testing::trained(ranks, scratch / "sound", training);
        CHECK(base::CsvTable{scratch / "sound/train/products.csv"}.rows() >= 10'000);
        CHECK(sound.result["code"]["wrong_symbols"] == 0);
        CHECK(sound.result["code"]["rollbacks"] == 0);
        CHECK(testing::outcomes_of_errors(scratch / "sound").empty());

        const testing::TrainRun run =
            testing::trained(ranks, scratch / "run", training + Words{"--soft-errors", "rate=" + rate});
        std::map<std::string, int> count = testing::outcomes_of_errors(scratch / "run");
        CHECK(count["regenerated"] + count["rolled_back"] >= 1000);
        CHECK(count["missed"] == 0);
        CHECK(count["below_threshold"] == 0);
        CHECK(count["false_alarm"] <= 10);  // a block recomputed from others is rounded more, until the next refresh
        CHECK(run.result["loss"].get<double>() == doctest::Approx(sound.result["loss"].get<double>()).epsilon(1e-4));
    }
}

#endif
