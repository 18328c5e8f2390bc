// SPDX-License-Identifier: Apache-2.0
// Coded trainings with late=skip under every code, with errors, refreshes and restarts.
#include "testing/coded_runs.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>

using testing::operator+;
using testing::Words;

#ifdef CROSSTALK_DDL_TORCH

namespace {

namespace fs = std::filesystem;

const Words mlp_of_late_ranks{"--model", "mlp[hidden=20]", "--data", "digits", "--trace", "off"};
const Words sharded{"--checkpoint-by", "sharded", "--checkpoint-fsync", "no", "--checkpoint-keep", "0"};

testing::TrainRun late_run(int ranks, const fs::path& out, const Words& more)
{
    testing::TrainRun run = testing::train(ranks, out, mlp_of_late_ranks + sharded + more);
    INFO(run.err);
    REQUIRE(run.status == 0);
    return run;
}

}  // namespace

// With a high learning rate, rounding alone separates any two trainings of so many steps.
TEST_CASE("500 steps that skip a late rank end with the weights of late=wait, under every code")
{
    struct Case {
        std::string code;
        int ranks;
        std::string late;
    };
    for (const auto& [code, ranks, late] : {Case{"code=replication,grid=2x1", 4, "late=skip,spare=0,lag=3"},
                                            Case{"code=replication,grid=1x2,copies=3", 6, "late=skip"},
                                            Case{"grid=2x1,parity=2x2", 8, "late=skip,refresh=100"},
                                            Case{"grid=3x2,parity=1x1", 11, "late=skip,spare=0"}}) {
        CAPTURE(code);
        const testing::Scratch scratch;
        const Words to_500{"--steps", "500", "--checkpoint-every", "500", "--batch", "32", "--lr", "0.001"};
        const testing::TrainRun skip = late_run(
            ranks, scratch / "skip",
            to_500 + Words{"--strategy", "coded[" + code + "," + late + "]", "--delay", "3:forward:20ms:every=2"});
        const testing::TrainRun wait =
            late_run(ranks, scratch / "wait", to_500 + Words{"--strategy", "coded[" + code + "]"});
        CHECK(skip.result["ranks_agree"] == true);
        CHECK(testing::distance_of_models(scratch / "skip", scratch / "wait", 500) < 1e-4);
        CHECK(testing::products_with_late_symbols(scratch / "skip") > 0);
        CHECK(skip.result["code"]["drift"].get<double>() < 1e-4);
    }
}

TEST_CASE("a training that skips late ranks raises no alarm when its gradients have become small")
{
    const testing::Scratch scratch;
    const testing::TrainRun run = late_run(8, scratch / "run",
                                           {"--steps", "3000", "--checkpoint-every", "3000", "--batch", "32", "--lr",
                                            "0.02", "--strategy", "coded[grid=2x1,parity=2x2,late=skip]"});
    CHECK(run.result["loss"].get<double>() < 1e-3);
    CHECK(run.result["code"]["wrong_symbols"] == 0);
    CHECK(run.result["code"]["rollbacks"] == 0);
    CHECK(testing::outcomes_of_errors(scratch / "run").empty());
}

// A ReLU that rounding turns on on one rank and off on another makes blocks differ by about 1e-4.
TEST_CASE("ranks that drift apart while late ones are skipped agree again, without an alarm")
{
    const testing::Scratch scratch;
    const Words training{"--model",    "mlp[hidden=512]",
                         "--data",     "digits",
                         "--batch",    "64",
                         "--lr",       "0.01",
                         "--seed",     "2",
                         "--steps",    "1000",
                         "--trace",    "off",
                         "--strategy", "coded[grid=3x2,parity=1x1,late=skip,spare=0]"};
    const testing::TrainRun run = testing::train(11, scratch / "run", training);
    REQUIRE(run.status == 0);
    CHECK(run.result["code"]["drift"] > 0.0);
    CHECK(run.result["code"]["wrong_symbols"] == 0);
    CHECK(run.result["code"]["rollbacks"] == 0);
    CHECK(testing::outcomes_of_errors(scratch / "run").empty());
}

TEST_CASE("none of many errors is missed while late ranks are skipped")
{
    for (const std::string strategy :
         {"coded[grid=2x1,parity=2x2,late=skip]", "coded[grid=2x1,parity=2x2,late=skip,spare=0,refresh=50]"})
        for (const std::string kind : {"add", "bit"}) {
            CAPTURE(strategy);
            CAPTURE(kind);
            const testing::Scratch scratch;
            const testing::TrainRun run =
                late_run(8, scratch / "run",
                         {"--steps", "400", "--checkpoint-every", "50", "--strategy", strategy, "--soft-errors",
                          "rate=0.001,kind=" + kind, "--delay", "2:backward:20ms:every=7"});
            std::map<std::string, int> count = testing::outcomes_of_errors(scratch / "run");
            CHECK(count["regenerated"] + count["rolled_back"] > 0);
            CHECK(count["missed"] == 0);
            CHECK(run.result["ranks_agree"] == true);
        }
}

TEST_CASE("a training that skips late ranks is killed at any step and resumes, also under late=wait")
{
    const testing::Scratch scratch;
    const std::string skip = "coded[grid=1x1,parity=1x1,late=skip,spare=0,refresh=7]";
    const Words every_tenth{"--checkpoint-every", "10", "--strategy", skip, "--delay", "2:forward:5ms:every=3"};
    const fs::path killed = scratch / "killed";
    {
        testing::RunningTraining run{3, killed, mlp_of_late_ranks + sharded + every_tenth + Words{"--duration", "60s"}};
        while (!fs::exists(ddl::checkpoint_path(killed / "train/checkpoints", 10))) {
            REQUIRE(testing::runs(run.launcher()));
            std::this_thread::sleep_for(std::chrono::milliseconds{10});
        }
        ::kill(run.ranks().back(), SIGKILL);
        CHECK(run.wait() != 0);
    }
    const Words rest{"--steps", "40", "--resume", ddl::checkpoint_path(killed / "train/checkpoints", 10).string()};
    const testing::TrainRun whole = late_run(3, scratch / "whole", every_tenth + Words{"--steps", "40"});
    const testing::TrainRun same = late_run(3, scratch / "same", every_tenth + rest);
    const testing::TrainRun wait = late_run(
        3, scratch / "wait", rest + Words{"--strategy", "coded[grid=1x1,parity=1x1]", "--checkpoint-every", "10"});
    for (const testing::TrainRun& run : {same, wait}) {
        CHECK(run.result["first_step"] == 10);
        CHECK(run.result["loss"].get<double>() == doctest::Approx(whole.result["loss"].get<double>()).epsilon(1e-4));
    }
    CHECK(testing::distance_of_models(scratch / "same", scratch / "whole", 40) < 1e-4);
    CHECK(testing::distance_of_models(scratch / "wait", scratch / "whole", 40) < 1e-4);
}

TEST_CASE("a signal, a time, and epochs with evaluations end a training that skips late ranks")
{
    const testing::Scratch scratch;
    const Words skip{"--strategy",
                     "coded[grid=1x1,parity=1x1,late=skip,spare=0,threshold=1e-3]",
                     "--delay",
                     "1:backward:10ms:every=3",
                     "--checkpoint-every",
                     "20"};
    late_run(3, scratch / "time", skip + Words{"--duration", "2s"});
    const testing::TrainRun epochs = late_run(3, scratch / "epochs", skip + Words{"--epochs", "2"});
    CHECK(epochs.result["ranks_agree"] == true);
    testing::RunningTraining run{3, scratch / "signal",
                                 mlp_of_late_ranks + sharded + skip + Words{"--duration", "60s"}};
    run.wait_for_steps();
    for (const pid_t rank : run.ranks()) ::kill(rank, SIGTERM);
    CHECK(run.wait() == 0);
}

#endif
