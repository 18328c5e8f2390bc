// SPDX-License-Identifier: Apache-2.0
// Checkpoints of coded trainings: resuming from them, under the same strategy or another, and rolling back to them.
#include "base/contract/code_tables.hpp"
#include "base/csv.hpp"
#include "base/words.hpp"
#include "ddl-workloads/checkpoint/checkpoint_store.hpp"
#include "testing/coded_runs.hpp"
#include "testing/testing.hpp"
#include "testing/train_runs.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <set>
#include <string>
#include <thread>

using testing::operator+;
using testing::Words;

#ifdef CROSSTALK_DDL_TORCH

namespace {

namespace fs = std::filesystem;

const Words mlp_for_restarts{"--model", "mlp[hidden=20]", "--data", "digits", "--lr", "0.01", "--trace", "off"};
const Words three_ranks = mlp_for_restarts + Words{"--strategy", "coded[grid=1x1,parity=1x1]"};
const Words every_tenth{"--checkpoint-every", "10", "--checkpoint-by",   "sharded",
                        "--checkpoint-fsync", "no", "--checkpoint-keep", "0"};

testing::TrainRun that_ended(testing::TrainRun run)
{
    INFO(run.err);
    REQUIRE(run.status == 0);
    return run;
}

}  // namespace

TEST_CASE("a coded training that was killed resumes from its checkpoint to the same bits")
{
    const testing::Scratch scratch;
    const Words three = mlp_for_restarts + Words{"--strategy", "coded[grid=1x1,parity=1x1,refresh=5]"};
    const fs::path killed = scratch / "killed";
    {
        testing::RunningTraining run{3, killed, three + every_tenth + Words{"--duration", "60s"}};
        while (!fs::exists(ddl::checkpoint_path(killed / "train/checkpoints", 10))) {
            REQUIRE(testing::runs(run.launcher()));
            std::this_thread::sleep_for(std::chrono::milliseconds{10});
        }
        ::kill(run.ranks().back(), SIGKILL);
        CHECK(run.wait() != 0);
    }
    const fs::path middle = ddl::checkpoint_path(killed / "train/checkpoints", 10);
    const Words to_20{"--steps", "20"};
    const testing::TrainRun resumed =
        that_ended(testing::train(3, scratch / "resumed", three + to_20 + Words{"--resume", middle.string()}));
    const testing::TrainRun whole = that_ended(testing::train(3, scratch / "whole", three + to_20));
    CHECK(resumed.result["first_step"] == 10);
    CHECK(resumed.result["checksum"] == whole.result["checksum"]);
}

TEST_CASE("a coded training that resumes has the soft errors that it would have had")
{
    const testing::Scratch scratch;
    const Words with_errors =
        mlp_for_restarts +
        Words{"--strategy", "coded[grid=1x1,parity=2x2]", "--steps", "20", "--soft-errors", "rate=0.01"};
    const testing::TrainRun whole = that_ended(testing::train(5, scratch / "whole", with_errors + every_tenth));
    const fs::path middle = ddl::checkpoint_path(scratch / "whole/train/checkpoints", 10);
    const testing::TrainRun resumed =
        that_ended(testing::train(5, scratch / "resumed", with_errors + Words{"--resume", middle.string()}));
    CHECK(resumed.result["checksum"] == whole.result["checksum"]);
    const auto late_errors = [&](const char* run) {
        const base::CsvTable table{scratch / run / "train" / base::code::errors_table};
        std::multiset<std::string> all;
        for (std::size_t row = 0; row < table.rows(); ++row)
            if (table.get<std::int64_t>(row, "step") >= 10)
                all.insert(base::join(table.text(row, "step"), " ", table.text(row, "layer"), " ",
                                      table.text(row, "site"), " ", table.text(row, "rank"), " ",
                                      table.text(row, "size"), " ", table.text(row, "outcome")));
        return all;
    };
    CHECK(!late_errors("whole").empty());
    CHECK(late_errors("resumed") == late_errors("whole"));
}

TEST_CASE("a coded training continues under another code, and under ddp")
{
    const testing::Scratch scratch;
    const testing::TrainRun whole =
        that_ended(testing::train(3, scratch / "whole", three_ranks + every_tenth + Words{"--steps", "20"}));
    const fs::path middle = ddl::checkpoint_path(scratch / "whole/train/checkpoints", 10);
    const Words rest = mlp_for_restarts + Words{"--steps", "20", "--resume", middle.string()};
    const testing::TrainRun other = that_ended(testing::train(
        4, scratch / "other", rest + Words{"--strategy", "coded[code=replication,grid=2x1]"} + every_tenth));
    const testing::TrainRun ddp = that_ended(testing::train_alone(scratch / "ddp", rest));
    const testing::TrainRun two =
        that_ended(testing::train(2, scratch / "two", rest + every_tenth + Words{"--batch", "4"}));
    CHECK(testing::train(2, scratch / "refused", rest)
              .err.find("that training had this number of samples in a step: "
                        "8, not 16") != std::string::npos);
    CHECK(two.result["first_step"] == 10);
    CHECK(testing::distance_of_models(scratch / "two", scratch / "whole", 20) < 1e-5);
    for (const testing::TrainRun& run : {other, ddp}) {
        CHECK(run.result["first_step"] == 10);
        CHECK(run.err.find("not coded[grid=1x1,parity=1x1]") != std::string::npos);
        CHECK(run.result["loss"].get<double>() == doctest::Approx(whole.result["loss"].get<double>()).epsilon(1e-4));
    }
}

TEST_CASE("a coded training rolls back to its newest checkpoint, which holds no error")
{
    const testing::Scratch scratch;
    const Words copies = mlp_for_restarts + Words{"--strategy", "coded[code=replication,grid=1x1]", "--steps", "100"};
    const testing::TrainRun run =
        that_ended(testing::train(2, scratch / "run", copies + every_tenth + Words{"--soft-errors", "rate=0.002"}));
    const testing::TrainRun sound = that_ended(testing::train(2, scratch / "sound", copies));
    const auto rollbacks = run.result["code"]["rollbacks"].get<int>();
    CHECK(rollbacks > 1);
    CHECK(run.result["steps"] <= 100 + 10 * rollbacks);
    CHECK(run.result["loss"].get<double>() == doctest::Approx(sound.result["loss"].get<double>()).epsilon(1e-4));
    CHECK(fs::exists(ddl::checkpoint_path(scratch / "run/train/checkpoints", 100)));
}

#endif
