// SPDX-License-Identifier: Apache-2.0
// Coded trainings with late=skip: a rank sleeps longer than all else takes.
#include "base/contract/control_file.hpp"
#include "base/system/launcher.hpp"
#include "testing/coded_runs.hpp"
#include "testing/testing.hpp"
#include "testing/train_traces.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

using testing::operator+;
using testing::Words;

#ifdef CROSSTALK_DDL_TORCH

namespace {

const Words mlp_with_late_rank{"--model", "mlp[hidden=20]", "--data", "digits",  "--batch",
                               "8",       "--lr",           "0.01",   "--trace", "off"};

// Five ranks, of which every product can leave out one symbol.
std::string late_skip(const std::string& more)
{
    return "coded[grid=2x1,parity=1x1,threshold=1e-3,late=skip,spare=0" + more + "]";
}

}  // namespace

TEST_CASE("products do not wait for a late rank, which catches up to the weights of late=wait")
{
    const testing::Scratch scratch;
    const Words options =
        mlp_with_late_rank + Words{"--steps", "30", "--checkpoint-every", "30", "--checkpoint-by", "sharded"};
    const testing::TrainRun skip = testing::trained(
        5, scratch / "skip", options + Words{"--strategy", late_skip(""), "--delay", "1:forward:500ms:every=15"});
    const testing::TrainRun wait =
        testing::trained(5, scratch / "wait", options + Words{"--strategy", "coded[grid=2x1,parity=1x1]"});
    CHECK(skip.result["ranks_agree"] == true);
    CHECK(testing::distance_of_models(scratch / "skip", scratch / "wait", 30) < 1e-4);
    CHECK(testing::products_with_late_symbols(scratch / "skip") > 0);
    CHECK(testing::products_with_late_symbols(scratch / "wait") == 0);
    const double saved_ms = testing::saved_ms(scratch / "skip");
    CHECK(saved_ms > 0.5 * 1000);  // rank 1 sleeps for 500 ms twice
    CHECK(saved_ms < 10 * 1000);   // and begins up to forty products late each time
    CHECK(testing::check_lag(scratch / "skip", 8) == 5 * 30);
    CHECK(skip.result["code"]["drift"].get<double>() < 1e-4);
}

TEST_CASE("a product under MatDot does not wait for a late rank, and is that of LibTorch")
{
    const testing::Scratch scratch;
    const testing::TrainRun run =
        testing::trained(4, scratch / "run",
                         {"--model", "product[rows=33,inner=50,columns=21]", "--data", "digits", "--trace", "off",
                          "--steps", "8", "--strategy", "coded[code=polydot,t=1,s=2,threshold=1e-3,late=skip,spare=0]",
                          "--delay", "3:forward:500ms:every=4"});
    CHECK(run.result["loss"].get<double>() < 1e-5);
    CHECK(testing::products_with_late_symbols(scratch / "run") > 0);
}

TEST_CASE("ranks wait for one that is lag steps behind")
{
    const testing::Scratch scratch;
    testing::trained(5, scratch / "run",
                     mlp_with_late_rank + Words{"--steps", "12", "--strategy", late_skip(",lag=2,refresh=5"), "--delay",
                                                "3:backward:300ms:every=4"});
    CHECK(testing::check_lag(scratch / "run", 2) == 5 * 12);
}

TEST_CASE("errors are repaired while late ranks are skipped")
{
    const testing::Scratch scratch;
    const Words options = mlp_with_late_rank + Words{"--steps", "100"};
    const testing::TrainRun run = testing::trained(
        8, scratch / "run",
        options + Words{"--strategy", "coded[grid=2x1,parity=2x2,late=skip,lag=3]", "--soft-errors", "rate=0.001"});
    const testing::TrainRun one = testing::trained_alone(scratch / "one", options);
    CHECK(run.result["loss"].get<double>() == doctest::Approx(one.result["loss"].get<double>()).epsilon(1e-4));
    std::map<std::string, int> count = testing::outcomes_of_errors(scratch / "run");
    CHECK(count["regenerated"] + count["rolled_back"] > 0);
    CHECK(count["missed"] == 0);
    CHECK(count["false_alarm"] == 0);
}

TEST_CASE("every rank makes the control delay, without barriers, where news wait for nobody")
{
    const testing::Scratch scratch;
    base::ControlFile control = base::ControlFile::open(scratch / "run", base::host_name());
    testing::ask(control.page(), base::ControlRequest::delay);
    testing::trained(
        5, scratch / "run",
        mlp_with_late_rank + Words{"--steps", "9", "--control-delay", "3ms", "--strategy", late_skip(",lag=2")});
    CHECK(control.page().controlled == 6);  // step 1 requests the first, step 3 makes it
    CHECK(control.page().steps_ahead == 2);
    const base::CsvTable rows{scratch / "run/train/steps.csv"};
    for (std::size_t row = 0; row < rows.rows(); ++row) {
        CHECK((rows.get<std::int64_t>(row, "control_delay_ns") >= 3'000'000) ==
              (rows.get<std::int64_t>(row, "step") >= 3));
        CHECK((rows.get<std::int64_t>(row, "control_settle_ns") > 0) == (rows.get<std::int64_t>(row, "step") >= 3));
    }
}

TEST_CASE("late=skip is refused where nothing could be left out")
{
    const testing::Scratch scratch;
    const auto refusal = [&](const std::string& options) {
        const testing::TrainRun run = testing::train_alone(
            scratch / "run", {"--model", "mlp", "--data", "digits", "--strategy", "coded[" + options + "]"});
        CHECK(run.status == 2);
        CHECK(testing::lines(run.err) == 1);
        return run.err;
    };
    const auto has = [](const std::string& text, const std::string& words) {
        INFO(text);
        CHECK(text.find(words) != std::string::npos);
    };
    has(refusal("code=uncoded,late=skip,spare=0"), "needs all but 0 of its symbols");
    has(refusal("grid=3x2,parity=1x1,late=skip"), "needs all but 1 of its symbols");
    has(refusal("code=replication,late=skip"), "needs all but 1 of its symbols");
    has(refusal("grid=3x2,parity=2x0,late=skip,spare=0"), "needs all but 0 of its symbols");
    has(refusal("late=skip,lag=0"), "lag must be at least 1");
    has(refusal("late=skip,refresh=0"), "refresh must be at least 1");
    has(refusal("late=skip,spare=-1"), "spare must not be negative");
    has(refusal("late=never"), "late must be wait or skip");
    has(refusal("spare=0"), "needs late=skip");
    has(refusal("late=wait,lag=4"), "needs late=skip");
}

#endif
