// SPDX-License-Identifier: Apache-2.0
// Every code and every kind of model with fully connected layers, compared with a training by one process.
#include "testing/coded_runs.hpp"
#include "testing/testing.hpp"

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
    for (const Words& model : {gpt, resnet}) testing::check_coded_loss(scratch, model, 8, "coded[grid=2x2,parity=1x1]");
}

#endif
