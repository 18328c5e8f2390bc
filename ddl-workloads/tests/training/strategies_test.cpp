// SPDX-License-Identifier: Apache-2.0
// Strategies and models: their final parameters, and how fast they learn.
#include "base/csv.hpp"
#include "base/files.hpp"
#include "ddl-workloads/instruments/phases.hpp"
#include "testing/environment.hpp"
#include "testing/testing.hpp"
#include "testing/train_runs.hpp"
#include "testing/train_traces.hpp"
#include "trace-tools/otf2/read/reader.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

using testing::small;
using testing::StepsOfTrace;
using testing::Words;

namespace {

// Trains on two ranks and returns the checksum of the final parameters; that of `naive` once for each model.
class Pairs {
 public:
    const std::string& naive(const Words& model)
    {
        std::string& checksum_of_model = naive_[model[1]];
        if (checksum_of_model.empty()) checksum_of_model = checksum(model, "naive");
        return checksum_of_model;
    }

    std::string checksum(const Words& model, const std::string& strategy, const Words& more = {})
    {
        Words options{"--batch", "2", "--strategy", strategy, "--steps", "20", "--trace", "off"};
        options.insert(options.end(), model.begin(), model.end());
        options.insert(options.end(), more.begin(), more.end());
        const testing::TrainRun run = testing::train(2, scratch_ / std::to_string(number_++), options);
        INFO(model[1], " ", strategy, ": ", run.err);
        REQUIRE(run.status == 0);
        CHECK(run.result["steps"] == 20);
        CHECK(run.result["ranks_agree"] == (strategy != "none"));
        return run.result["checksum"].get<std::string>();
    }

 private:
    testing::Scratch scratch_;
    std::map<std::string, std::string> naive_;
    int number_ = 0;
};

// Small versions of all models but two residual networks; a model not listed here has its default size.
std::vector<Words> small_models(const testing::Scratch& scratch)
{
    const auto of_images = [](const std::string& model) {
        return Words{"--model", model, "--data", "synthetic[samples=400]"};
    };
    Words gpt = testing::some_text(scratch / "text", 12);
    gpt.insert(gpt.begin(), {"--model", "gpt[layers=2,width=16,heads=2]"});
    return testing::every_model({{"emulated", of_images("emulated[compute=1ms,gradients=8kB,buckets=3]")},
                                 {"synthetic", of_images("synthetic[layers=5,bytes=4kB,flops=1e5]")},
                                 {"mlp", of_images("mlp[hidden=16]")},
                                 {"resnet18", of_images("resnet18[width=4]")},
                                 {"resnet34", {}},
                                 {"resnet50", {}},
                                 {"product", {}},
                                 {"gpt", gpt},
                                 {"dlrm",
                                  {"--model", "dlrm[embedding=4,bottom=8,top=8]", "--data",
                                   "clicks[samples=400,dense=4,categories=5,rows=50]"}}});
}

}  // namespace

// The nightly test runs all pairs of strategies and models, and larger models, with all residual networks.
TEST_CASE("every strategy but none and every model end with the parameters of naive bit for bit")
{
    const testing::Scratch scratch;
    Pairs pairs;
    const std::vector<Words> models = small_models(scratch);
    const Words strategies = testing::every_strategy(
        {{"ddp", {"ddp[first=1kB,cap=8kB,view=no]", "ddp[first=1kB,cap=8kB,static_graph=yes]"}},
         {"cycle", {"cycle[cache=2,cycle=0ms,fusion=0B]", "cycle[fusion=40kB]", "cycle[alone=1kB]"}},
         {"zero1", {"zero1[first=1kB,cap=8kB,view=no]", "zero1[cap=8kB]"}}});
    for (std::size_t i = 0; i < std::max(models.size(), strategies.size()); ++i) {
        const Words& model = models[i % models.size()];
        const std::string& strategy = strategies[i % strategies.size()];
        CAPTURE(model[1]);
        CAPTURE(strategy);
        CHECK(pairs.checksum(model, strategy) == pairs.naive(model));
    }
    pairs.checksum(models.front(), "none");  // with `none` the ranks' parameters differ
}

// For in-place sums Open MPI itself uses algorithm 2, a binomial tree. With four ranks, all its algorithms add
// neighbours first.
TEST_CASE("means have the same bits by whatever algorithm Open MPI adds")
{
    for (const int ranks : {2, 4}) {
        const auto checksum = [&](const std::map<std::string, std::string>& variables) {
            const testing::Environment environment{variables};
            const testing::Scratch scratch;
            const testing::TrainRun run = testing::trained(
                ranks, scratch / "run", small({"--strategy", "ddp", "--steps", "10", "--trace", "off"}));
            return run.result["checksum"].get<std::string>();
        };
        CAPTURE(ranks);
        CHECK(checksum({}) == checksum({{"OMPI_MCA_coll_libnbc_iallreduce_algorithm", "2"}}));
    }
}

#ifdef CROSSTALK_DDL_TORCH
TEST_CASE("gradients that add up over passes are the same for every strategy")
{
    Pairs pairs;
    const Words mlp{"--model", "mlp[hidden=16]", "--data", "synthetic[samples=400]"};
    const Words passes{"--accumulate", "3", "--optimizer", "adamw"};
    const std::string naive = pairs.checksum(mlp, "naive", passes);
    for (const std::string& strategy :
         testing::every_strategy({{"ddp", {"ddp[cap=8kB]"}}, {"zero1", {"zero1[view=no]"}}})) {
        CAPTURE(strategy);
        CHECK(pairs.checksum(mlp, strategy, passes) == naive);
    }
}

TEST_CASE("each rank of zero1 updates its share of the parameters")
{
    const testing::Scratch scratch;
    const testing::TrainRun run = testing::trained(2, scratch / "run",
                                                   {"--model", "mlp[hidden=16]", "--data", "synthetic[samples=100]",
                                                    "--strategy", "zero1", "--steps", "2", "--trace", "off"});
    const auto record = nlohmann::json::parse(base::read_whole(scratch / "run/train/run.json"));
    const auto& ranks = record["result"]["each_rank"];
    const auto first = ranks[0]["computing"]["updated_parameters"].get<std::int64_t>();
    const auto second = ranks[1]["computing"]["updated_parameters"].get<std::int64_t>();
    CHECK(first + second == record["result"]["parameters"]);
    CHECK(std::abs(first - second) < 100);  // memory is aligned to 64 bytes
}
#endif

TEST_CASE("passes of a step are reported in phases and records")
{
    const testing::Scratch scratch;
    const testing::TrainRun run = testing::trained_alone(
        scratch / "run", small({"--batch", "8", "--accumulate", "2", "--epochs", "1", "--strategy", "ddp"}));
    CHECK(run.result["steps"] == 8);  // 128 of 160 samples; the others are held out
    CHECK(run.result["bytes_averaged"] == 8 * 64'000);
    otf2::Reader reader{scratch / "run/train/trace/traces.otf2"};
    StepsOfTrace trace{reader.archive()};
    reader.read(trace);
    CHECK(trace.all_closed());
    CHECK(trace.regions.at("forward") == 16);
    CHECK(trace.regions.at("backward") == 16);
    CHECK(trace.regions.at("update") == 8);
    CHECK(trace.regions.at("bucket_ready") == 16);
}

TEST_CASE("four ranks end with the same parameters whatever the strategy")
{
    // The gradients of the emulated model are small whole numbers: exact in any order of summation and in half
    // precision.
    const testing::Scratch scratch;
    std::string naive;
    Words strategies =
        testing::every_strategy({{"ddp", {"ddp", "ddp[hook=fp16]"}}, {"zero1", {"zero1", "zero1[hook=fp16]"}}});
    strategies.insert(strategies.begin(), "naive");
    for (const std::string& strategy : strategies) {
        const testing::TrainRun run =
            testing::train(4, scratch / strategy,
                           {"--model", "emulated[compute=1ms,gradients=8kB,buckets=3]", "--data",
                            "synthetic[samples=400]", "--strategy", strategy, "--steps", "10", "--trace", "off"});
        INFO(strategy, ": ", run.err);
        REQUIRE(run.status == 0);
        CHECK(run.result["ranks_agree"] == true);
        if (naive.empty()) naive = run.result["checksum"];
        CHECK(run.result["checksum"] == naive);
        CHECK(run.result["bytes_averaged"] == 10 * (strategy.ends_with("fp16]") ? 4000 : 8000));
    }
}

TEST_CASE("cycles warn of ranks that others wait for, whether responses are cached or not")
{
    const testing::Scratch scratch;
    const testing::TrainRun run = testing::trained(
        2, scratch / "run",
        small({"--strategy", "cycle[stall=100ms]", "--steps", "2", "--delay", "1:backward:1500ms", "--trace", "off"}));
    const std::string warning = "ddl-train: rank 1 is not ready for bucket 0";
    const std::size_t first = run.err.find(warning);
    REQUIRE(first != std::string::npos);
    CHECK(run.err.find(warning, first + 1) != std::string::npos);
    CHECK(run.err.find("rank 0 is not ready") == std::string::npos);
}

#ifdef CROSSTALK_DDL_TORCH
TEST_CASE("mlp reaches 95 percent accuracy on digits kept apart")
{
    const testing::Scratch scratch;
    const testing::TrainRun run = testing::train(2, scratch / "run",
                                                 {"--model", "mlp[hidden=128]", "--batch", "16", "--epochs", "10",
                                                  "--optimizer", "adamw", "--lr", "0.0005", "--trace", "off"});
    REQUIRE(run.status == 0);
    CHECK(run.result["accuracy"].get<double>() >= 0.95);
    CHECK(run.err.find("accuracy on held-out samples") != std::string::npos);
}

TEST_CASE("libraries compute with as many threads as asked for")
{
    const testing::Scratch scratch;
    const testing::TrainRun run = testing::train_alone(
        scratch / "run",
        {"--model", "mlp[hidden=16]", "--data", "synthetic[samples=100]", "--steps", "2", "--threads", "2"});
    REQUIRE(run.status == 0);
    const auto record = nlohmann::json::parse(base::read_whole(scratch / "run/train/run.json"));
    const auto& computing = record["result"]["each_rank"][0]["computing"];
    CHECK(computing["torch_threads"] == 2);
    if (computing.contains("openblas_threads")) CHECK(computing["openblas_threads"] == 2);
}

// Mean times over the first ten steps in ns, from our phases and from PyTorch's logger.
struct PassTimes {
    struct {
        double forward = 0.0;
        double backward = 0.0;
        double with_exchange = 0.0;  // backward, plus the wait for the exchange after it
    } ours, loggers;
};

PassTimes times_of_passes(const std::filesystem::path& out)
{
    constexpr std::int64_t logged_steps = 10;
    const testing::TrainRun run = testing::trained(
        2, out,
        {"--model", "resnet18[width=8]", "--data", "synthetic[samples=320]", "--batch", "8", "--strategy",
         "ddp[first=64KiB,cap=256KiB]", "--steps", std::to_string(logged_steps + 1), "--trace", "off"});
    PassTimes times;
    const base::CsvTable rows{out / "train/steps.csv"};
    for (std::size_t row = 0; row < rows.rows(); ++row) {
        if (rows.get<int>(row, "rank") != 0 || rows.get<std::int64_t>(row, "step") >= logged_steps) continue;
        const auto mean = [&](const char* phase) {
            return static_cast<double>(rows.get<std::int64_t>(row, phase)) / static_cast<double>(logged_steps);
        };
        times.ours.forward += mean("forward_ns");
        times.ours.backward += mean("backward_ns");
        times.ours.with_exchange += mean("backward_ns") + mean("wait_exchange_ns");
    }
    const auto record = nlohmann::json::parse(base::read_whole(out / "train/run.json"));
    const auto& logger = record["result"]["each_rank"][0]["computing"]["ddp_logger"];
    const auto logged = [&](const char* what) { return logger[what].get<double>(); };
    times.loggers.forward = logged("avg_forward_compute_time");
    times.loggers.backward = logged("avg_backward_compute_time");
    times.loggers.with_exchange =
        times.loggers.backward + logged("avg_backward_comm_time") - logged("avg_backward_compute_comm_overlap_time");
    return times;
}

// The phase ends when the last bucket is handed over; the logger's backward ends when the thread next runs, which is
// later if other programs use the CPU. So only one of three trainings must agree.
TEST_CASE("phases take as long as PyTorch's own logger says")
{
    const testing::Scratch scratch;
    const auto near = [](double ours, double loggers) { return std::abs(ours / loggers - 1.0) < 0.05; };
    bool agree = false;
    std::ostringstream seen;
    for (int training = 0; training < 3 && !agree; ++training) {
        const auto [ours, loggers] = times_of_passes(scratch / std::to_string(training));
        agree = near(ours.forward, loggers.forward) && near(ours.backward, loggers.backward) &&
                near(ours.with_exchange, loggers.with_exchange);
        seen << "\n"
             << ours.forward << ' ' << ours.backward << ' ' << ours.with_exchange << ", logger " << loggers.forward
             << ' ' << loggers.backward << ' ' << loggers.with_exchange;
    }
    INFO("forward, backward and backward with its exchange, in ns:", seen.str());
    CHECK(agree);
}
#endif
