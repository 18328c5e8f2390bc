// SPDX-License-Identifier: Apache-2.0
// Whatever writes a checkpoint, and however: a training resumes from it to the same bits, and a kill while it is
// written leaves the one before.
#include "base/contract/checkpoint_table.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/random.hpp"
#include "ddl-workloads/checkpoint/checkpoint_reader.hpp"
#include "ddl-workloads/checkpoint/checkpoint_store.hpp"
#include "testing/child.hpp"
#include "testing/testing.hpp"
#include "testing/train_runs.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

using testing::operator+;
using testing::Words;

namespace {

namespace fs = std::filesystem;

fs::path saved_in(const fs::path& run)
{
    return run / "train/checkpoints";
}

// Every format, writer and mode at least once by day; all combinations at night.
std::vector<Words> ways_to_write()
{
    if (!testing::at_night())
        return {{"--checkpoint-by", "rank0", "--checkpoint-mode", "async", "--checkpoint-compress", "gzip=4"},
#ifdef CROSSTALK_DDL_TORCH
                {"--checkpoint-by", "sharded", "--checkpoint-mode", "async", "--checkpoint-format", "torch"},
#endif
                {"--checkpoint-by", "sharded", "--checkpoint-mode", "sync", "--checkpoint-format", "raw"},
                {"--checkpoint-by", "all", "--checkpoint-mode", "async", "--checkpoint-format", "raw"},
                {"--checkpoint-by", "all", "--checkpoint-mode", "sync"}};
    std::vector<Words> all;
    for (const std::string by : {"rank0", "sharded", "all"})
        for (const std::string mode : {"sync", "async"}) {
            const Words way{"--checkpoint-by", by, "--checkpoint-mode", mode};
            for (const std::string& format : ddl::checkpoint_formats().names())
                all.push_back(way + Words{"--checkpoint-format", format});
            all.push_back(way + Words{"--checkpoint-compress", "gzip=4"});
        }
    return all;
}

// The row of each rank about the restart of that run from step 4 of a checkpoint that was written this way.
void check_restarts(const fs::path& run, const Words& way)
{
    const base::CsvTable table{run / "train/restarts.csv"};
    CHECK(table.columns() == base::names_of(base::checkpoint::restart_columns()));
    REQUIRE(table.rows() == 2);
    const bool in_default = std::find(way.begin(), way.end(), "--checkpoint-format") == way.end();
    std::vector<bool> found(2);
    for (std::size_t row = 0; row < table.rows(); ++row) {
        const auto restart = base::row_of(base::checkpoint::restart_columns(), table, row);
        found.at(static_cast<std::size_t>(restart.rank)) = true;
        CHECK(restart.step == 4);
        CHECK(restart.format == (in_default ? "hdf5" : way.back()));
        CHECK(restart.content == "training");
        CHECK(restart.by == way[1]);
        CHECK(restart.compress == (way.back() == "gzip=4" ? "gzip=4" : "none"));
        CHECK((restart.verify_ns > 0) == (restart.rank == 0));
        CHECK(restart.read_ns > 0);
        CHECK(restart.begin_ns + restart.verify_ns + restart.read_ns <= restart.end_ns);
        CHECK(restart.bytes == 64'000 + 2 * 2 * 4 + 8);  // gradients, parameters, number of steps
    }
    CHECK(found == std::vector<bool>{true, true});
}

}  // namespace

TEST_CASE("a training resumes to the same bits from a checkpoint of every format, writer and mode")
{
    const testing::Scratch scratch;
    const Words words{"--model", "emulated[compute=100us,gradients=64kB,buckets=2]",
                      "--data",  "synthetic[samples=160]",
                      "--trace", "off",
                      "--steps", "8"};
    const Words writing = words + Words{"--checkpoint-every", "4", "--checkpoint-fsync", "no"};
    const testing::TrainRun whole = testing::train(2, scratch / "whole", words + Words{"--checkpoint-every", "8"});
    REQUIRE(whole.status == 0);
    const auto end = ddl::CheckpointReader{ddl::checkpoint_path(saved_in(scratch / "whole"), 8)}.tensors();
    int number = 0;
    for (const Words& way : ways_to_write()) {
        INFO(way[1], " ", way[3], " ", way.back());
        const fs::path run = scratch / ("run" + std::to_string(++number));
        const testing::TrainRun first = testing::train(2, run, writing + way);
        INFO(first.err);
        REQUIRE(first.status == 0);
        CHECK(first.result["checksum"] == whole.result["checksum"]);
        const fs::path middle = ddl::checkpoint_path(saved_in(run), 4);
        const fs::path again = run.string() + ".again";
        const testing::TrainRun rest = testing::train(2, again, writing + Words{"--resume", middle.string()});
        INFO(rest.err);
        REQUIRE(rest.status == 0);
        CHECK(rest.result["first_step"] == 4);
        check_restarts(again, way);
        CHECK(rest.result["checksum"] == whole.result["checksum"]);
        CHECK(ddl::CheckpointReader{ddl::checkpoint_path(saved_in(again), 8)}.tensors() == end);
    }
}

namespace {

const Words four_megabytes{
    "--model", "emulated[compute=100us,gradients=4MB]", "--data", "synthetic[samples=160]", "--trace", "off"};

// A training is killed while it writes checkpoints. Returns true if it was writing one.
bool killed_while_writing(const fs::path& run, const Words& how, std::chrono::microseconds when)
{
    testing::Child training{
        Words{CROSSTALK_BIN "/ddl-train"} + four_megabytes +
        Words{"--transport", "self", "--duration", "60s", "--checkpoint-every", "1", "--out", run.string()} + how};
    REQUIRE(testing::eventually([&] { return !ddl::checkpoints_in(saved_in(run)).empty(); }));
    std::this_thread::sleep_for(when);
    training.signal(SIGKILL);
    CHECK(training.wait() == 128 + SIGKILL);
    const fs::directory_iterator entries{saved_in(run)};
    return std::any_of(begin(entries), end(entries), [](const auto& one) { return one.path().extension() == ".tmp"; });
}

// The newest is taken, after ddl-train has verified it.
void check_resumes(const fs::path& run, const fs::path& newest)
{
    const std::int64_t next = std::stoll(newest.filename().string().substr(std::string{"step-"}.size())) + 1;
    const testing::TrainRun rest = testing::train_alone(
        run.string() + ".again", four_megabytes + Words{"--steps", std::to_string(next), "--resume", run.string()});
    INFO(rest.err);
    CHECK(rest.status == 0);
    CHECK(rest.result["resumed_from"] == newest.string());
}

}  // namespace

TEST_CASE("a kill at any moment of writing a checkpoint leaves the one before whole, in every format")
{
    const testing::Scratch scratch;
    base::Random random = base::random_stream(7, 0);
    const int kills = testing::at_night() ? 50 : 2;
    const std::vector<std::string> writers{"rank0", "sharded", "all"};
    for (const std::string& format : ddl::checkpoint_formats().names()) {
        int while_writing = 0;
        for (int kill = 0; while_writing < kills && kill < 10 * kills; ++kill) {
            INFO("kill ", kill, " ", format);
            const fs::path run = scratch / base::join(format, ".", kill);
            const std::chrono::microseconds when{base::draw_below(random, 100'000)};
            const Words how{"--checkpoint-format", format,
                            "--checkpoint-mode",   kill % 2 == 0 ? "sync" : "async",
                            "--checkpoint-by",     writers[static_cast<std::size_t>(kill) % writers.size()]};
            while_writing += killed_while_writing(run, how, when) ? 1 : 0;
            const std::vector<fs::path> all = ddl::checkpoints_in(saved_in(run));
            REQUIRE_FALSE(all.empty());
            if (format == "torch")  // this process does not load LibTorch
                check_resumes(run, all.front());
            else
                for (const fs::path& checkpoint : all) CHECK_NOTHROW(ddl::CheckpointReader{checkpoint}.verify());
            fs::remove_all(run);
        }
        CHECK(while_writing == kills);
    }
}
