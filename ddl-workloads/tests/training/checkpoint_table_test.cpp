// SPDX-License-Identifier: Apache-2.0
// checkpoints.csv of the real ddl-train, against steps.csv and the files themselves.
#include "base/contract/checkpoint_table.hpp"

#include "base/csv.hpp"
#include "base/error.hpp"
#include "ddl-workloads/checkpoint/checkpoint_store.hpp"
#include "testing/testing.hpp"
#include "testing/train_runs.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct StepRow {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    std::int64_t checkpoint_ns = 0;
};

// By rank and step.
std::map<std::pair<int, std::int64_t>, StepRow> step_rows(const fs::path& run)
{
    const base::CsvTable table{run / "train/steps.csv"};
    std::map<std::pair<int, std::int64_t>, StepRow> all;
    for (std::size_t row = 0; row < table.rows(); ++row)
        all[{table.get<int>(row, "rank"), table.get<std::int64_t>(row, "step")}] = {
            .begin_ns = table.get<std::int64_t>(row, "begin_ns"),
            .end_ns = table.get<std::int64_t>(row, "end_ns"),
            .checkpoint_ns = table.get<std::int64_t>(row, "checkpoint_ns")};
    return all;
}

}  // namespace

TEST_CASE("checkpoints that may cost 3 % take no more, but for the last one, and not much less")
{
    const testing::Scratch scratch;
    const testing::TrainRun training = testing::train_alone(
        scratch / "run",
        {"--model", "emulated[compute=8ms,gradients=64kB]", "--data", "synthetic[samples=160]", "--trace", "off",
         "--steps", "500", "--checkpoint-every", "auto:3%", "--checkpoint-fsync", "no", "--delay", "0:checkpoint:8ms"});
    INFO(training.err);
    REQUIRE(training.status == 0);
    double all_ns = 0.0;
    std::vector<double> steps_ns;
    std::vector<double> stalls_ns;
    for (const auto& [place, step] : step_rows(scratch / "run")) {
        steps_ns.push_back(static_cast<double>(step.end_ns - step.begin_ns));
        all_ns += steps_ns.back();
        if (step.checkpoint_ns > 0) stalls_ns.push_back(static_cast<double>(step.checkpoint_ns));
    }
    REQUIRE(stalls_ns.size() > 1);
    CHECK(training.result["checkpoints"]["written"] == stalls_ns.size());
    const double taken_ns = std::accumulate(stalls_ns.begin(), stalls_ns.end(), 0.0);
    CHECK(taken_ns - stalls_ns.back() <= 0.03 * all_ns);

    // Steps add their share, up to two stalls of the last length; whatever the machine does, no more is lost than what
    // long steps add, and what a stall much shorter than the one before leaves. One is due within four steps.
    const double long_ns = 5.0 * *std::min_element(stalls_ns.begin(), stalls_ns.end());
    double least_ns = -2.0 * stalls_ns.back();
    for (const double step_ns : steps_ns) least_ns += 0.03 * std::min(step_ns, long_ns);
    for (std::size_t i = 1; i < stalls_ns.size(); ++i)
        least_ns -= std::max(0.0, stalls_ns[i - 1] + 4 * 0.03 * long_ns - 3.0 * stalls_ns[i]);
    CHECK(taken_ns >= least_ns);
}

TEST_CASE("each rank that wrote to a checkpoint has a row about it, within the step that it stalled")
{
    struct Case {
        std::string by;
        std::string mode;
        std::string fsync;
        int writers;
        std::string compress;
    };
    const testing::Scratch scratch;
    for (const Case& how : {Case{"rank0", "sync", "yes", 1, "gzip=4"}, Case{"sharded", "async", "no", 2, "none"},
                            Case{"all", "sync", "yes", 2, "none"}}) {
        INFO(how.by);
        const fs::path run = scratch / how.by;
        const testing::TrainRun training = testing::train(
            2, run,
            {"--model", "emulated[compute=1ms,gradients=64kB,buckets=2]", "--data", "synthetic[samples=160]", "--trace",
             "off", "--steps", "12", "--checkpoint-every", "4", "--checkpoint-by", how.by, "--checkpoint-mode",
             how.mode, "--checkpoint-fsync", how.fsync, "--checkpoint-compress", how.compress});
        INFO(training.err);
        REQUIRE(training.status == 0);
        const auto steps = step_rows(run);
        const base::CsvTable table{run / "train/checkpoints.csv"};
        CHECK(table.columns() == base::names_of(base::checkpoint::columns()));
        std::map<std::int64_t, int> writers;
        for (std::size_t row = 0; row < table.rows(); ++row) {
            const auto save = base::row_of(base::checkpoint::columns(), table, row);
            INFO("step ", save.step, " rank ", save.rank);
            ++writers[save.step];
            CHECK(save.format == "hdf5");
            CHECK(save.content == "training");
            CHECK(save.by == how.by);
            CHECK(save.mode == how.mode);
            CHECK(save.fsync == how.fsync);
            CHECK(save.compress == how.compress);
            const StepRow& step = steps.at({save.rank, save.step - 1});
            CHECK(save.begin_ns >= step.begin_ns);
            CHECK(save.begin_ns + save.stall_ns <= step.end_ns);
            CHECK(save.stall_ns <= step.checkpoint_ns);
            CHECK(save.stall_ns >= save.copy_ns);
            CHECK((save.copy_ns > 0) == (how.mode == "async"));
            CHECK(save.write_ns > 0);
            CHECK((save.sync_ns > 0) == (how.fsync == "yes"));
            const std::string file = how.writers == 1 ? "checkpoint.h5" : base::join("shard-", save.rank, ".h5");
            const fs::path checkpoint = ddl::checkpoint_path(run / "train/checkpoints", save.step);
            CHECK(save.bytes == static_cast<std::int64_t>(fs::file_size(checkpoint / file)));
        }
        CHECK(writers == std::map<std::int64_t, int>{{4, how.writers}, {8, how.writers}, {12, how.writers}});
    }
}
