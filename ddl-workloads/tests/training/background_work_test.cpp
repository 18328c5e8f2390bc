// SPDX-License-Identifier: Apache-2.0
// Background work that noisegen requests from a training: a checkpoint, other numbers of loader threads.
#include "base/contract/control_file.hpp"
#include "base/csv.hpp"
#include "base/files.hpp"
#include "base/system/launcher.hpp"
#include "ddl-workloads/checkpoint/checkpoint_reader.hpp"
#include "ddl-workloads/checkpoint/checkpoint_store.hpp"
#include "testing/testing.hpp"
#include "testing/train_runs.hpp"
#include "testing/train_traces.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <vector>

using testing::ask;
using testing::Words;

namespace {

namespace fs = std::filesystem;

const Words mlp{"--model", "mlp[hidden=8]",
                "--data",  "synthetic[channels=1,height=4,width=4,samples=320]",
                "--batch", "8",
                "--trace", "off",
                "--steps", "12"};

// Steps of rank 0 with time in a checkpoint.
std::vector<int> steps_with_checkpoint(const fs::path& out)
{
    const base::CsvTable rows{out / "train/steps.csv"};
    std::vector<int> steps;
    for (std::size_t row = 0; row < rows.rows(); ++row)
        if (rows.get<int>(row, "rank") == 0 && rows.get<std::int64_t>(row, "checkpoint_ns") > 0)
            steps.push_back(rows.get<int>(row, "step"));
    return steps;
}

}  // namespace

TEST_CASE("noisegen gets one checkpoint a slot, synchronous or not, and the training computes the same")
{
    const testing::Scratch scratch;
    const auto plain = testing::train(2, scratch / "plain", mlp);
    REQUIRE(plain.status == 0);
    for (const auto request : {base::ControlRequest::checkpoint, base::ControlRequest::checkpoint_async}) {
        const fs::path out = scratch / std::to_string(static_cast<int>(request));
        base::ControlFile control = base::ControlFile::open(out, base::host_name());
        ask(control.page(), request);
        const auto run = testing::train(2, out, mlp);
        INFO(run.err);
        REQUIRE(run.status == 0);
        CHECK(control.page().served == 1);
        CHECK(steps_with_checkpoint(out) == std::vector<int>{1});  // requested in step 0, known to all ranks in step 1
        CHECK(run.result["checkpoints"]["written"] == 1);
        const std::vector<fs::path> written = ddl::checkpoints_in(out / "train/checkpoints");
        REQUIRE(written.size() == 1);
        const ddl::CheckpointReader reader{written.front()};
        reader.verify();
        CHECK(reader.meta().step == 2);
        CHECK(run.result["checksum"] == plain.result["checksum"]);
    }
    CHECK(steps_with_checkpoint(scratch / "plain").empty());
    CHECK(plain.result["checkpoints"].is_null());
}

TEST_CASE("a checkpoint of noisegen comes beside those that the training writes anyway")
{
    const testing::Scratch scratch;
    base::ControlFile control = base::ControlFile::open(scratch / "run", base::host_name());
    ask(control.page(), base::ControlRequest::checkpoint);
    const Words every{"--checkpoint-every", "5", "--checkpoint-keep", "0"};
    REQUIRE(testing::train_alone(scratch / "run", testing::operator+(mlp, every)).status == 0);
    CHECK(steps_with_checkpoint(scratch / "run") == std::vector<int>{1, 4, 9});
}

TEST_CASE("a training whose state does not fit into one file takes up no checkpoint")
{
    const testing::Scratch scratch;
    base::ControlFile control = base::ControlFile::open(scratch / "run", base::host_name());
    ask(control.page(), base::ControlRequest::checkpoint);
    const Words tables{"--model", "dlrm", "--data", "clicks[samples=320]", "--trace", "off", "--steps", "5"};
    const auto run = testing::train(2, scratch / "run", tables);
    INFO(run.err);
    REQUIRE(run.status == 0);
    CHECK(control.page().served == 0);
    CHECK_FALSE(fs::exists(scratch / "run/train/checkpoints"));
}

TEST_CASE("other numbers of loader threads change no sample")
{
    const testing::Scratch scratch;
    const auto plain = testing::train(2, scratch / "plain", mlp);
    REQUIRE(plain.status == 0);
    for (const std::uint32_t threads : {0U, 3U}) {
        const fs::path out = scratch / std::to_string(threads);
        base::ControlFile control = base::ControlFile::open(out, base::host_name());
        control.page().value = threads;
        ask(control.page(), base::ControlRequest::loaders);
        const auto run = testing::train(2, out, mlp);
        INFO(run.err);
        REQUIRE(run.status == 0);
        CHECK(control.page().served == 1);
        CHECK(run.result["checksum"] == plain.result["checksum"]);
    }
    const auto without = testing::train(2, scratch / "none", testing::operator+(mlp, {"--readers", "0"}));
    REQUIRE(without.status == 0);
    CHECK(without.result["checksum"] == plain.result["checksum"]);
}
