// The real ddl-train: what it computes, writes and refuses.
#include "base/contract/control_file.hpp"
#include "base/csv.hpp"
#include "base/files.hpp"
#include "base/system/clock.hpp"
#include "base/system/cpus.hpp"
#include "base/system/launcher.hpp"
#include "ddl-workloads/instruments/phases.hpp"
#include "testing/testing.hpp"
#include "testing/train_runs.hpp"
#include "trace-tools/otf2/read/reader.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <map>

using testing::Words;

namespace {

namespace fs = std::filesystem;

// A training of some milliseconds a step that needs neither Torch nor data from elsewhere.
Words small(Words more = {})
{
    Words words{"--model", "emulated[compute=4ms,gradients=64kB,buckets=2]", "--data", "synthetic[samples=160]"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

std::size_t lines(const std::string& text)
{
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

// What the archive says about the main threads' steps and phases, and whether every ENTER has its LEAVE.
class StepsOfTrace : public otf2::Visitor {
 public:
    explicit StepsOfTrace(const otf2::Archive& archive) : archive_{archive}, open_(archive.locations.size()) {}

    struct Step {
        std::int64_t begin_ns = 0;
        std::int64_t end_ns = 0;
        std::map<std::string, std::int64_t> phase_ns;
    };
    std::map<std::pair<std::uint32_t, std::uint64_t>, Step> steps;  // by process and number
    std::map<std::string, int> regions;
    std::map<std::string, int> metrics;
    std::map<std::string, std::uint64_t> exchanged_bytes;                        // by location
    std::map<std::uint64_t, std::map<std::uint32_t, std::int64_t>> first_ready;  // by step and process: since its begin
    std::vector<std::pair<std::uint32_t, std::int64_t>> delays;                  // process and length
    bool balanced = true;
    bool monotone = true;

    void enter(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes& attributes) override
    {
        const std::string& name = archive_.regions.at(region).name;
        look_at_time(at);
        open_[at.location].push_back({name, at.time_ns});
        ++regions[name];
        if (name == "step") {
            const std::uint64_t number = attributes.number(*archive_.find_attribute("step")).value();
            current_[at.location] = &steps[{archive_.locations.at(at.location).process, number}];
            current_[at.location]->begin_ns = at.time_ns;
        }
        if (name == "bucket_ready" && attributes.number(*archive_.find_attribute("bucket")) == 0U)
            first_ready[attributes.number(*archive_.find_attribute("step")).value()]
                       [archive_.locations.at(at.location).process] = at.time_ns - current_[at.location]->begin_ns;
        if (name == "bucket_exchange")
            exchanged_bytes[archive_.locations.at(at.location).name] +=
                attributes.number(*archive_.find_attribute("bytes")).value();
    }

    void leave(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes&) override
    {
        const std::string& name = archive_.regions.at(region).name;
        look_at_time(at);
        auto& open = open_[at.location];
        balanced = balanced && !open.empty() && open.back().first == name;
        if (!balanced) return;
        const std::int64_t length = at.time_ns - open.back().second;
        open.pop_back();
        if (name == "step") current_[at.location]->end_ns = at.time_ns;
        if (name == "injected_delay") delays.emplace_back(archive_.locations.at(at.location).process, length);
        if (open.size() == 1 && open.back().first == "step") current_[at.location]->phase_ns[name] += length;
    }

    void metric(const otf2::At&, std::uint32_t metric, const otf2::MetricValue&) override
    {
        ++metrics[archive_.metrics.at(metric).name];
    }

    bool all_closed() const
    {
        return balanced && std::all_of(open_.begin(), open_.end(), [](const auto& open) { return open.empty(); });
    }

 private:
    void look_at_time(const otf2::At& at)
    {
        monotone = monotone && at.time_ns >= last_[at.location];
        last_[at.location] = at.time_ns;
    }

    const otf2::Archive& archive_;
    std::vector<std::vector<std::pair<std::string, std::int64_t>>> open_;
    std::map<std::uint32_t, Step*> current_;
    std::map<std::uint32_t, std::int64_t> last_;
};

}  // namespace

// --------------------------------------------------------------------------------------------------- what is computed

namespace {

// Trains on two ranks; the checksum of the parameters on which they end.
class Pairs {
 public:
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
    int number_ = 0;
};

// Small ones of all models there are; a new one is trained as it is by default.
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
                                 {"resnet34", of_images("resnet34[width=2]")},
                                 {"resnet50", of_images("resnet50[width=2,stem=imagenet]")},
                                 {"gpt", gpt},
                                 {"dlrm",
                                  {"--model", "dlrm[embedding=4,bottom=8,top=8]", "--data",
                                   "clicks[samples=400,dense=4,categories=5,rows=50]"}}});
}

// Within five seconds: who is killed takes a moment to go.
bool all_end(const std::vector<pid_t>& processes)
{
    const auto any_runs = [&] { return std::any_of(processes.begin(), processes.end(), testing::runs); };
    const std::int64_t patience_ends = base::now_ns() + 5'000'000'000;
    while (any_runs() && base::now_ns() < patience_ends) base::sleep_until_ns(base::now_ns() + 50'000'000);
    return !any_runs();
}

}  // namespace

// All pairs of them, and larger ones, are a nightly test.
TEST_CASE("every strategy but none and every model end with the parameters of naive bit for bit")
{
    const testing::Scratch scratch;
    Pairs pairs;
    const std::vector<Words> models = small_models(scratch);
    const Words strategies = testing::every_strategy(
        {{"ddp", {"ddp[first=1kB,cap=8kB]", "ddp[first=1kB,cap=8kB,static_graph=yes,view=yes]"}},
         {"cycle", {"cycle[cache=2,cycle=0ms,fusion=0B]", "cycle[fusion=40kB]"}},
         {"zero1", {"zero1[first=1kB,cap=8kB]", "zero1[cap=8kB,view=yes]"}}});
    for (std::size_t i = 0; i < std::max(models.size(), strategies.size()); ++i) {
        const Words& model = models[i % models.size()];
        const std::string& strategy = strategies[i % strategies.size()];
        CAPTURE(model[1]);
        CAPTURE(strategy);
        CHECK(pairs.checksum(model, strategy) == pairs.checksum(model, "naive"));
    }
    pairs.checksum(models.front(), "none");  // whose ranks do not agree
}

#ifdef CROSSTALK_DDL_TORCH
TEST_CASE("gradients that add up over passes are the same for every strategy")
{
    Pairs pairs;
    const Words mlp{"--model", "mlp[hidden=16]", "--data", "synthetic[samples=400]"};
    const Words passes{"--accumulate", "3", "--optimizer", "adamw"};
    const std::string naive = pairs.checksum(mlp, "naive", passes);
    for (const std::string& strategy : testing::every_strategy({{"ddp", {"ddp[cap=8kB,view=yes]"}}})) {
        CAPTURE(strategy);
        CHECK(pairs.checksum(mlp, strategy, passes) == naive);
    }
}

TEST_CASE("each rank of zero1 updates its share of the parameters")
{
    const testing::Scratch scratch;
    const testing::TrainRun run = testing::train(2, scratch / "run",
                                                 {"--model", "mlp[hidden=16]", "--data", "synthetic[samples=100]",
                                                  "--strategy", "zero1", "--steps", "2", "--trace", "off"});
    INFO(run.err);
    REQUIRE(run.status == 0);
    const auto record = nlohmann::json::parse(base::read_whole(scratch / "run/train/run.json"));
    const auto& ranks = record["result"]["each_rank"];
    const auto first = ranks[0]["computing"]["updated_parameters"].get<std::int64_t>();
    const auto second = ranks[1]["computing"]["updated_parameters"].get<std::int64_t>();
    CHECK(first + second == record["result"]["parameters"]);
    CHECK(std::abs(first - second) < 100);  // they begin at multiples of 64 bytes
}
#endif

TEST_CASE("passes of a step are reported in phases and records")
{
    const testing::Scratch scratch;
    const testing::TrainRun run = testing::train_alone(
        scratch / "run", small({"--batch", "8", "--accumulate", "2", "--epochs", "1", "--strategy", "ddp"}));
    INFO(run.err);
    REQUIRE(run.status == 0);
    CHECK(run.result["steps"] == 8);  // 128 samples of 160; the others are held out
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
    // The emulated model's gradients are small whole numbers: exact in any order and in half precision.
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
    const testing::TrainRun run = testing::train(
        2, scratch / "run",
        small({"--strategy", "cycle[stall=100ms]", "--steps", "2", "--delay", "1:backward:1500ms", "--trace", "off"}));
    INFO(run.err);
    REQUIRE(run.status == 0);
    const std::string warning = "ddl-train: rank 1 is not ready for bucket 0";
    const std::size_t first = run.err.find(warning);
    REQUIRE(first != std::string::npos);
    CHECK(run.err.find(warning, first + 1) != std::string::npos);
    CHECK(run.err.find("rank 0 is not ready") == std::string::npos);
}

#ifdef CROSSTALK_DDL_TORCH
TEST_CASE("residual networks have the parameters that are known of them")
{
    const std::map<std::string, std::int64_t> parameters{
        {"resnet18", 11'173'962}, {"resnet34", 21'282'122}, {"resnet50[stem=imagenet]", 23'528'522}};
    const testing::Scratch scratch;
    for (const auto& [model, expected] : parameters) {
        const testing::TrainRun run = testing::train_alone(
            scratch / model,
            {"--model", model, "--data", "synthetic[samples=160]", "--batch", "2", "--steps", "1", "--trace", "off"});
        INFO(model, ": ", run.err);
        REQUIRE(run.status == 0);
        CHECK(run.result["parameters"] == expected);
    }
}

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

TEST_CASE("resnet18 reaches 95 percent accuracy on digits kept apart")
{
    const testing::Scratch scratch;
    const testing::TrainRun run = testing::train_alone(
        scratch / "run", {"--model", "resnet18[width=4]", "--batch", "16", "--epochs", "3", "--lr", "0.05"});
    REQUIRE(run.status == 0);
    CHECK(run.result["accuracy"].get<double>() >= 0.95);
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
#endif

// ---------------------------------------------------------------------------------------------------- what is written

#ifdef CROSSTALK_DDL_TORCH
TEST_CASE("phases take as long as PyTorch's own logger says")
{
    constexpr std::int64_t logged_steps = 10;
    const testing::Scratch scratch;
    const testing::TrainRun run = testing::train(
        2, scratch / "run",
        {"--model", "resnet18[width=8]", "--data", "synthetic[samples=320]", "--batch", "8", "--strategy",
         "ddp[first=64KiB,cap=256KiB]", "--steps", std::to_string(logged_steps + 1), "--trace", "off"});
    INFO(run.err);
    REQUIRE(run.status == 0);
    double forward = 0.0;
    double backward = 0.0;
    double with_exchange = 0.0;
    const base::CsvTable rows{scratch / "run/train/steps.csv"};
    for (std::size_t row = 0; row < rows.rows(); ++row) {
        if (rows.get<int>(row, "rank") != 0 || rows.get<std::int64_t>(row, "step") >= logged_steps) continue;
        const auto mean = [&](const char* phase) {
            return static_cast<double>(rows.get<std::int64_t>(row, phase)) / static_cast<double>(logged_steps);
        };
        forward += mean("forward_ns");
        backward += mean("backward_ns");
        with_exchange += mean("backward_ns") + mean("wait_exchange_ns");
    }
    const auto record = nlohmann::json::parse(base::read_whole(scratch / "run/train/run.json"));
    const auto& logger = record["result"]["each_rank"][0]["computing"]["ddp_logger"];
    const auto logged = [&](const char* what) { return logger[what].get<double>(); };
    CHECK(logged("avg_forward_compute_time") == doctest::Approx(forward).epsilon(0.05));
    CHECK(logged("avg_backward_compute_time") == doctest::Approx(backward).epsilon(0.05));
    CHECK(logged("avg_backward_compute_time") + logged("avg_backward_comm_time") -
              logged("avg_backward_compute_comm_overlap_time") ==
          doctest::Approx(with_exchange).epsilon(0.05));
}
#endif

namespace {

void ask(base::ControlPage& page, base::ControlRequest request, std::int64_t slot_end_ns = INT64_MAX)
{
    page.request = static_cast<std::uint32_t>(request);
    page.slot_end_ns = slot_end_ns;
    page.on_until_ns = INT64_MAX;
}

}  // namespace

TEST_CASE("steps in the trace and in steps csv are the same and phases add up to them")
{
    const testing::Scratch scratch;
    base::ControlFile control = base::ControlFile::open(scratch / "run", base::host_name());
    ask(control.page(), base::ControlRequest::delay);
    const testing::TrainRun run =
        testing::train(2, scratch / "run", small({"--steps", "12", "--control-delay", "1ms", "--readers", "2"}));
    INFO(run.err);
    REQUIRE(run.status == 0);

    const base::CsvTable rows{scratch / "run/train/steps.csv"};
    REQUIRE(rows.rows() == 24);
    otf2::Reader reader{scratch / "run/train/trace/traces.otf2"};
    StepsOfTrace trace{reader.archive()};
    reader.read(trace);
    CHECK(reader.archive().problems.empty());
    CHECK(reader.problems().empty());
    CHECK(trace.all_closed());
    CHECK(trace.monotone);
    CHECK(trace.steps.size() == 24);

    for (std::size_t row = 0; row < rows.rows(); ++row) {
        const auto rank = static_cast<std::uint32_t>(rows.get<std::int64_t>(row, "rank"));
        const auto number = static_cast<std::uint64_t>(rows.get<std::int64_t>(row, "step"));
        REQUIRE(trace.steps.contains({rank, number}));
        const StepsOfTrace::Step& step = trace.steps.at({rank, number});
        CHECK(step.begin_ns == rows.get<std::int64_t>(row, "begin_ns"));
        CHECK(step.end_ns == rows.get<std::int64_t>(row, "end_ns"));
        std::int64_t sum = 0;
        for (const ddl::Phase phase : ddl::phases) {
            const std::string name = ddl::text(phase);
            const std::int64_t ns = rows.get<std::int64_t>(row, name + "_ns");
            sum += ns;
            if (phase == ddl::Phase::other) continue;
            const bool always = phase < ddl::Phase::checkpoint;
            if (always) REQUIRE(step.phase_ns.contains(name));
            CHECK((step.phase_ns.contains(name) ? step.phase_ns.at(name) : 0) == ns);
        }
        CHECK(sum == step.end_ns - step.begin_ns);
    }
}

#ifdef CROSSTALK_DDL_TORCH
TEST_CASE("a trace that has little memory is flushed on the way and is whole")
{
    const testing::Scratch scratch;
    const testing::TrainRun run = testing::train_alone(
        scratch / "run", {"--model", "mlp[hidden=16]", "--data", "synthetic[samples=400]", "--batch", "2",
                          "--instrument", "L3", "--steps", "150", "--trace-memory", "768KiB"});
    INFO(run.err);
    REQUIRE(run.status == 0);
    otf2::Reader reader{scratch / "run/train/trace/traces.otf2"};
    StepsOfTrace trace{reader.archive()};
    reader.read(trace);
    CHECK(reader.problems().empty());
    CHECK(trace.all_closed());
    CHECK(trace.steps.size() == 150);
    CHECK(trace.regions["TRACE BUFFER FLUSH"] > 0);
    CHECK(testing::train_alone(scratch / "less", small({"--trace-memory", "100KiB"})).status != 0);
}
#endif

TEST_CASE("the trace holds buckets and reads and metrics where they belong")
{
    const testing::Scratch scratch;
    const testing::TrainRun run = testing::train(2, scratch / "run", small({"--steps", "12", "--batch", "4"}));
    REQUIRE(run.status == 0);
    otf2::Reader reader{scratch / "run/train/trace/traces.otf2"};
    const otf2::Archive& archive = reader.archive();
    StepsOfTrace trace{archive};
    reader.read(trace);

    constexpr int ranks = 2;
    constexpr int buckets_of_a_rank = 12 * 2;
    CHECK(trace.regions.at("bucket_ready") == ranks * buckets_of_a_rank);
    CHECK(trace.regions.at("bucket_exchange") == ranks * buckets_of_a_rank);
    CHECK(trace.exchanged_bytes == std::map<std::string, std::uint64_t>{{"transport", ranks * 12 * 64'000}});
    CHECK(trace.regions.at("read") >= ranks * 12);
    CHECK(trace.metrics.at("queue_depth") == ranks * 2);  // steps 0 and 10
    CHECK(trace.metrics.at("bytes_reduced") == ranks * 2);
    CHECK(trace.metrics.at("bytes_read") == ranks * 2);
    CHECK(trace.metrics.at("context-switches") == ranks * 2);

    std::vector<std::string> names;
    for (const otf2::Location& location : archive.locations)
        names.push_back(archive.processes.at(location.process).name + ": " + location.name);
    std::sort(names.begin(), names.end());
    CHECK(names == std::vector<std::string>{"MPI Rank 0: main", "MPI Rank 0: reader 0", "MPI Rank 0: transport",
                                            "MPI Rank 1: main", "MPI Rank 1: reader 0", "MPI Rank 1: transport"});
    for (const otf2::Communicator& communicator : archive.communicators)
        for (const std::uint32_t member : communicator.members) CHECK(archive.locations.at(member).name == "transport");
    CHECK_FALSE(archive.communicators.empty());
}

TEST_CASE("the trace of cycles holds negotiation and fusion beside the exchanges")
{
    const testing::Scratch scratch;
    const testing::TrainRun run =
        testing::train(2, scratch / "run",
                       {"--model", "emulated[compute=4ms,gradients=64kB,buckets=4,ready=100%/100%/100%/100%]", "--data",
                        "synthetic[samples=160]", "--strategy", "cycle[cycle=2ms]", "--steps", "12"});
    INFO(run.err);
    REQUIRE(run.status == 0);
    otf2::Reader reader{scratch / "run/train/trace/traces.otf2"};
    StepsOfTrace trace{reader.archive()};
    reader.read(trace);
    CHECK(reader.problems().empty());
    CHECK(trace.all_closed());
    CHECK(trace.monotone);
    CHECK(trace.regions.at("bucket_ready") == 2 * 12 * 4);
    CHECK(trace.regions.at("bucket_exchange") >= 2 * 12);
    CHECK(trace.regions.at("bucket_exchange") < 2 * 12 * 4);  // some were fused
    CHECK(trace.exchanged_bytes == std::map<std::string, std::uint64_t>{{"transport", 2 * 12 * 64'000}});
    CHECK(trace.regions.at("negotiate") >= 2 * 12);
    CHECK(trace.regions.at("fusion_copy_in") >= 2);
    CHECK(trace.regions.at("fusion_copy_in") == trace.regions.at("fusion_copy_out"));
}

TEST_CASE("the trace of a shared out optimizer holds the exchange of gradients and that of parameters")
{
    const testing::Scratch scratch;
    const testing::TrainRun run = testing::train(2, scratch / "run", small({"--strategy", "zero1", "--steps", "5"}));
    INFO(run.err);
    REQUIRE(run.status == 0);
    CHECK(run.result["bytes_averaged"] == 5 * 64'000);
    otf2::Reader reader{scratch / "run/train/trace/traces.otf2"};
    StepsOfTrace trace{reader.archive()};
    reader.read(trace);
    CHECK(trace.all_closed());
    CHECK(trace.regions["bucket_exchange"] == 2 * 5 * 2);
    CHECK(trace.regions["MPI_Ireduce_scatter"] == 2 * 5 * 2);
    CHECK(trace.regions["parameter_exchange"] == 2 * 5);
    CHECK(trace.regions["MPI_Iallreduce"] == 0);
    CHECK(trace.exchanged_bytes == std::map<std::string, std::uint64_t>{{"transport", 2 * 5 * 64'000}});
}

TEST_CASE("otf2-print reads the archive without a complaint")
{
    if (testing::run({"sh", "-c", "command -v otf2-print"}).status != 0)
        return testing::skip("otf2-print is not on this machine");
    const testing::Scratch scratch;
    REQUIRE(testing::train(2, scratch / "run", small({"--steps", "3"})).status == 0);
    const testing::Outcome printed = testing::run({"otf2-print", scratch / "run/train/trace/traces.otf2"});
    CHECK(printed.status == 0);
    CHECK(printed.err.empty());
    CHECK(printed.out.find("bucket_exchange") != std::string::npos);
}

TEST_CASE("without a trace there is none and all else is the same")
{
    const testing::Scratch scratch;
    const testing::TrainRun run = testing::train_alone(scratch / "run", small({"--steps", "3", "--trace", "off"}));
    INFO(run.err);
    REQUIRE(run.status == 0);
    CHECK_FALSE(fs::exists(scratch / "run/train/trace"));
    CHECK(base::CsvTable{scratch / "run/train/steps.csv"}.rows() == 3);
}

TEST_CASE("the run record says what was really in effect")
{
    const testing::Scratch scratch;
    REQUIRE(testing::train(2, scratch / "run", small({"--steps", "2", "--progress", "sleep=20us"})).status == 0);
    const auto record = nlohmann::json::parse(base::read_whole(scratch / "run/train/run.json"));
    CHECK(record["program"] == "ddl-train");
    CHECK(record["ranks"] == 2);
    CHECK(record["transport"]["name"] == "mpi");
    CHECK(record["transport"]["progress"] == "sleep=20us");
    CHECK(record["training"]["seed"] == 1);
    CHECK(record["result"]["each_rank"].size() == 2);
}

namespace {

nlohmann::json recorded_metrics(const fs::path& run)
{
    return nlohmann::json::parse(base::read_whole(run / "train/run.json"))["metrics"];
}

const nlohmann::json* find_metric(const nlohmann::json& metrics, const std::string& name)
{
    const auto found =
        std::find_if(metrics.begin(), metrics.end(), [&](const auto& one) { return one["name"] == name; });
    return found == metrics.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("the record and the trace name the source of every metric")
{
    const testing::Scratch scratch;
    REQUIRE(testing::train_alone(scratch / "run", small({"--steps", "2"})).status == 0);
    const nlohmann::json metrics = recorded_metrics(scratch / "run");
    const otf2::Reader reader{scratch / "run/train/trace/traces.otf2"};
    CHECK(metrics.size() == reader.archive().metrics.size());
    for (const otf2::Metric& metric : reader.archive().metrics) {
        const nlohmann::json* const recorded = find_metric(metrics, metric.name);
        INFO(metric.name, ": ", metric.description);
        REQUIRE(recorded != nullptr);
        CHECK((*recorded)["unit"] == metric.unit);
        CHECK(metric.description.ends_with("(source: " + (*recorded)["source"].get<std::string>() + ")"));
    }
    for (const char* own : {"loss", "queue_depth", "bytes_read"})
        CHECK((*find_metric(metrics, own))["source"] == "ddl-train");
    CHECK(find_metric(metrics, "gradient_norm") == nullptr);
}

TEST_CASE("where perf_event_open is not allowed a training counts what getrusage reports, and says so")
{
    const Words powerless{"setpriv", "--bounding-set=-all", "--inh-caps=-all"};
    const Words try_it{"sh", "-c", "[ \"$(cat /proc/sys/kernel/perf_event_paranoid)\" -ge 2 ]"};
    Words words = powerless;
    words.insert(words.end(), try_it.begin(), try_it.end());
    if (testing::run(words).status != 0) return testing::skip("cannot take away the right to use perf_event_open");

    const testing::Scratch scratch;
    words = powerless;
    const Words options = small({"--steps", "2", "--transport", "self", "--out", (scratch / "run").string()});
    words.emplace_back(CROSSTALK_BIN "/ddl-train");
    words.insert(words.end(), options.begin(), options.end());
    REQUIRE(testing::run(words).status == 0);
    const nlohmann::json metrics = recorded_metrics(scratch / "run");
    CHECK((*find_metric(metrics, "context-switches"))["source"] == "getrusage");
    CHECK(find_metric(metrics, "cpu-migrations") == nullptr);
    const auto record = nlohmann::json::parse(base::read_whole(scratch / "run/train/run.json"));
    CHECK(record["metrics_left_out"].dump().find("kernel.perf_event_paranoid is") != std::string::npos);
}

TEST_CASE("metrics of the process are those asked for, and what there is none of is refused")
{
    const testing::Scratch scratch;
    const testing::TrainRun refused = testing::train_alone(scratch / "run", small({"--metrics", "PAPI_TOT_INSS"}));
    CHECK(refused.status == 2);
    CHECK(lines(refused.err) == 1);
    CHECK(refused.err.find("this machine counts task-clock") != std::string::npos);
    CHECK_FALSE(fs::exists(scratch / "run"));
    REQUIRE(testing::train_alone(scratch / "run", small({"--steps", "2", "--metrics", "minor-faults"})).status == 0);
    const nlohmann::json metrics = recorded_metrics(scratch / "run");
    CHECK(find_metric(metrics, "minor-faults") != nullptr);
    CHECK(find_metric(metrics, "task-clock") == nullptr);
    CHECK(find_metric(metrics, "bytes_reduced") != nullptr);
}

namespace {

// Steps of each rank in DIR with some time in the phase.
std::map<int, std::int64_t> steps_with(const std::filesystem::path& out, const std::string& phase)
{
    const base::CsvTable rows{out / "train/steps.csv"};
    std::map<int, std::int64_t> steps{{0, 0}, {1, 0}};
    for (std::size_t row = 0; row < rows.rows(); ++row)
        if (rows.get<std::int64_t>(row, phase + "_ns") > 0) ++steps[rows.get<int>(row, "rank")];
    return steps;
}

}  // namespace

TEST_CASE("a delay is made by rank 0 in every step but those before the first news, between barriers of all")
{
    const testing::Scratch scratch;
    base::ControlFile control = base::ControlFile::open(scratch / "run", base::host_name());
    ask(control.page(), base::ControlRequest::delay);
    const testing::TrainRun run =
        testing::train(2, scratch / "run", small({"--steps", "6", "--control-delay", "3ms", "--trace", "off"}));
    REQUIRE(run.status == 0);
    CHECK(control.page().acknowledged == 6);
    CHECK(control.page().controlled == 4);  // step 0 has no time yet, step 1 asks, step 2 is the first that does it
    CHECK(control.page().step == 5);
    CHECK(steps_with(scratch / "run", "control_delay") == std::map<int, std::int64_t>{{0, 4}, {1, 0}});
    CHECK(steps_with(scratch / "run", "control_settle") == std::map<int, std::int64_t>{{0, 4}, {1, 4}});
    const base::CsvTable rows{scratch / "run/train/steps.csv"};
    for (std::size_t row = 0; row < rows.rows(); ++row)
        if (const auto delay = rows.get<std::int64_t>(row, "control_delay_ns"); delay > 0) CHECK(delay >= 3'000'000);
}

TEST_CASE("a sham has the barriers of a delay and no delay")
{
    const testing::Scratch scratch;
    base::ControlFile control = base::ControlFile::open(scratch / "run", base::host_name());
    ask(control.page(), base::ControlRequest::sham);
    REQUIRE(
        testing::train(2, scratch / "run", small({"--steps", "6", "--control-delay", "1h", "--trace", "off"})).status ==
        0);
    CHECK(control.page().controlled == 4);
    CHECK(steps_with(scratch / "run", "control_delay") == std::map<int, std::int64_t>{{0, 0}, {1, 0}});
    CHECK(steps_with(scratch / "run", "control_settle") == std::map<int, std::int64_t>{{0, 4}, {1, 4}});
}

TEST_CASE("a step that is not asked to, or would end after the slot, has nothing of the control")
{
    for (const bool asked_too_late : {false, true}) {
        const testing::Scratch scratch;
        base::ControlFile control = base::ControlFile::open(scratch / "run", base::host_name());
        if (asked_too_late) ask(control.page(), base::ControlRequest::delay, 1);
        const testing::TrainRun run =
            testing::train_alone(scratch / "run", small({"--steps", "5", "--control-delay", "1ms", "--trace", "off"}));
        REQUIRE(run.status == 0);
        CHECK(control.page().acknowledged == 5);
        CHECK(control.page().controlled == 0);
        CHECK(steps_with(scratch / "run", "control_settle")[0] == 0);
    }
}

TEST_CASE("a training's processes stand on the control page while it runs")
{
    const testing::Scratch scratch;
    testing::RunningTraining training{2, scratch / "run", small({"--steps", "100000", "--trace", "off"})};
    training.wait_for_steps();
    base::ControlFile control = base::ControlFile::open(scratch / "run", base::host_name());
    const std::vector<pid_t> ranks = training.ranks();
    CHECK(base::training_processes(control.page()) == std::set<pid_t>{ranks.begin(), ranks.end()});
}

TEST_CASE("a training without control does not acknowledge")
{
    const testing::Scratch scratch;
    base::ControlFile control = base::ControlFile::open(scratch / "run", base::host_name());
    ask(control.page(), base::ControlRequest::delay);
    REQUIRE(testing::train_alone(scratch / "run", small({"--steps", "3", "--trace", "off"})).status == 0);
    CHECK(control.page().acknowledged == 0);
    CHECK(control.page().step == 2);
}

// ---------------------------------------------------------------------------------------------------- where it runs

TEST_CASE("the late rank is named by when its first bucket is ready")
{
    const testing::Scratch scratch;
    const testing::TrainRun run =
        testing::train(2, scratch / "run",
                       {"--model", "emulated[compute=20ms,gradients=64kB,buckets=2]", "--data",
                        "synthetic[samples=400]", "--steps", "40", "--delay", "1:backward:4ms"});
    INFO(run.err);
    REQUIRE(run.status == 0);
    otf2::Reader reader{scratch / "run/train/trace/traces.otf2"};
    StepsOfTrace trace{reader.archive()};
    reader.read(trace);
    int named = 0;
    for (const auto& [step, ready] : trace.first_ready)
        if (ready.at(1) > ready.at(0)) ++named;
    CHECK(trace.first_ready.size() == 40);
    CHECK(named >= 38);
    CHECK(trace.delays.size() == 40);
    for (const auto& [process, length] : trace.delays) {
        CHECK(process == 1);
        CHECK(length >= 4'000'000);
    }
    const auto record = nlohmann::json::parse(base::read_whole(scratch / "run/train/run.json"));
    CHECK(record["result"]["each_rank"][1]["injected_delays"]["count"] == 40);
    CHECK(record["result"]["each_rank"][0]["injected_delays"]["count"] == 0);
    CHECK(record["training"]["delays"][0]["phase"] == "backward");
}

TEST_CASE("a delay falls on every Nth step of its phase")
{
    const testing::Scratch scratch;
    const testing::TrainRun run = testing::train_alone(
        scratch / "run",
        small({"--steps", "9", "--delay", "0:update:5ms:every=4", "--delay", "0:load:3ms:busy", "--trace", "off"}));
    INFO(run.err);
    REQUIRE(run.status == 0);
    const base::CsvTable rows{scratch / "run/train/steps.csv"};
    for (std::size_t row = 0; row < rows.rows(); ++row) {
        CHECK((rows.get<std::int64_t>(row, "update_ns") >= 5'000'000) == (row % 4 == 0));
        CHECK(rows.get<std::int64_t>(row, "load_ns") >= 3'000'000);
    }
    CHECK(testing::train_alone(scratch / "none", small({"--delay", "2:load:1ms"})).status == 2);
}

TEST_CASE("the result reports overlap and utilisation and what ended the training")
{
    const testing::Scratch scratch;
    const testing::TrainRun steps = testing::train(2, scratch / "steps", small({"--steps", "5"}));
    REQUIRE(steps.status == 0);
    CHECK(steps.result["ended_by"] == "steps");
    CHECK(steps.result["overlap_percent"] >= 0.0);
    CHECK(steps.result["overlap_percent"] <= 100.0);
    CHECK(steps.result["utilisation_percent"] > 0.0);
    CHECK(steps.result["utilisation_percent"] <= 100.0);
    const testing::TrainRun alone =
        testing::train_alone(scratch / "alone", small({"--epochs", "1", "--strategy", "none"}));
    CHECK(alone.result["ended_by"] == "epochs");
    CHECK(alone.result["overlap_percent"] == nullptr);
    const testing::TrainRun time = testing::train_alone(scratch / "time", small({"--duration", "300ms"}));
    CHECK(time.result["ended_by"] == "duration");
}

TEST_CASE("a target that a model without a loss cannot reach is refused")
{
    const testing::Scratch scratch;
    for (const Words& until : {Words{"--until-loss", "0.1"}, Words{"--until-accuracy", "90%"}}) {
        const testing::TrainRun run = testing::train_alone(scratch / until[0], small(until));
        CHECK(run.status == 2);
        CHECK(run.err.find("does not learn") != std::string::npos);
        CHECK(!fs::exists(scratch / until[0] / "train"));
    }
}

#ifdef CROSSTALK_DDL_TORCH
TEST_CASE("a training ends when its loss or its accuracy is reached, on all ranks after the same step")
{
    const testing::Scratch scratch;
    const Words mlp{"--model", "mlp[hidden=32]", "--data", "synthetic[samples=2000]", "--batch", "8", "--epochs",
                    "20",      "--trace",        "off"};
    Words until_loss = mlp;
    until_loss.insert(until_loss.end(), {"--until-loss", "0.7"});
    const testing::TrainRun loss = testing::train(2, scratch / "loss", until_loss);
    INFO(loss.err);
    REQUIRE(loss.status == 0);
    CHECK(loss.result["ended_by"] == "loss");
    CHECK(loss.result["ranks_agree"] == true);
    CHECK(loss.result["steps"] >= 10);
    Words until_accuracy = mlp;
    until_accuracy.insert(until_accuracy.end(), {"--until-accuracy", "60%"});
    const testing::TrainRun accuracy = testing::train(2, scratch / "accuracy", until_accuracy);
    INFO(accuracy.err);
    REQUIRE(accuracy.status == 0);
    CHECK(accuracy.result["ended_by"] == "accuracy");
    CHECK(accuracy.result["accuracy"] >= 0.6);
    CHECK(accuracy.result["ranks_agree"] == true);
}
#endif

TEST_CASE("transport threads are bound to CPUs of their own")
{
    const testing::Scratch scratch;
    const base::CpuSet cpus = base::allowed_cpus();
    const base::CpuSet first{*cpus.begin()};
    const base::CpuSet last{*cpus.rbegin()};
    const testing::TrainRun run = testing::train_alone(
        scratch / "run",
        small({"--steps", "2", "--cpus", base::format_cpus(first), "--transport-cpus", base::format_cpus(last)}));
    INFO(run.err);
    REQUIRE(run.status == 0);
    const auto record = nlohmann::json::parse(base::read_whole(scratch / "run/train/run.json"));
    CHECK(record["training"]["transport_cpus"] == base::format_cpus(last));
    std::map<std::string, int> threads;
    for (const auto& thread : record["result"]["each_rank"][0]["thread_cpus"]) ++threads[thread["cpus"]];
    if (first != last) CHECK(threads.at(base::format_cpus(last)) == 1);
    CHECK(threads.at(base::format_cpus(first)) >= 1);
    CHECK(testing::train_alone(scratch / "none", small({"--transport-cpus", "60000"})).status == 2);
}

TEST_CASE("every thread of every rank is bound to the CPUs given")
{
    const testing::Scratch scratch;
    const base::CpuSet cpu{*base::allowed_cpus().rbegin()};
    testing::RunningTraining training{2, scratch / "run",
                                      small({"--duration", "60s", "--cpus", base::format_cpus(cpu), "--readers", "2"})};
    training.wait_for_steps();
    const std::vector<pid_t> ranks = training.ranks();
    CHECK(ranks.size() == 2);
    for (const pid_t rank : ranks) {
        int threads = 0;
        for (const auto& task : fs::directory_iterator{"/proc/" + std::to_string(rank) + "/task"}) {
            CHECK(base::affinity_of(base::parse<int>(task.path().filename().string())) == cpu);
            ++threads;
        }
        CHECK(threads >= 4);  // main, transport, two readers
    }
}

// ------------------------------------------------------------------------------------------------------- how it ends

TEST_CASE("a signal to one rank ends all after the same step with a complete trace")
{
    const testing::Scratch scratch;
    testing::RunningTraining training{2, scratch / "run", small({"--duration", "60s"})};
    training.wait_for_steps();
    REQUIRE(training.ranks().size() == 2);
    ::kill(training.ranks().back(), SIGTERM);
    CHECK(training.wait() == 0);

    const base::CsvTable rows{scratch / "run/train/steps.csv"};
    otf2::Reader reader{scratch / "run/train/trace/traces.otf2"};
    StepsOfTrace trace{reader.archive()};
    reader.read(trace);
    CHECK(trace.all_closed());
    CHECK(trace.steps.size() == rows.rows());
    CHECK(rows.get<std::int64_t>(rows.rows() - 1, "step") == rows.get<std::int64_t>(rows.rows() - 2, "step"));
    CHECK(rows.get<int>(rows.rows() - 1, "rank") == 1);
}

TEST_CASE("after the kill of a rank or of the launcher no process is left and steps csv is readable")
{
    for (const bool launcher : {false, true}) {
        const testing::Scratch scratch;
        testing::RunningTraining training{2, scratch / "run", small({"--duration", "60s"})};
        training.wait_for_steps();
        const std::vector<pid_t> ranks = training.ranks();
        REQUIRE(ranks.size() == 2);
        ::kill(launcher ? training.launcher() : ranks.front(), SIGKILL);
        CHECK(training.wait() != 0);
        CHECK(all_end(ranks));
        CHECK(base::CsvTable{scratch / "run/train/steps.csv"}.rows() >= 8);
        CHECK(nlohmann::json::parse(base::read_whole(scratch / "run/train/run.json"))["ranks"] == 2);
    }
}

TEST_CASE("a training that stands still says who waits and who is silent and ends")
{
    const testing::Scratch scratch;
    testing::RunningTraining training{2, scratch / "run",
                                      small({"--duration", "10min", "--trace", "off", "--stall-after", "1s"})};
    training.wait_for_steps();
    const std::vector<pid_t> ranks = training.ranks();
    REQUIRE(ranks.size() == 2);
    ::kill(ranks.back(), SIGSTOP);
    CHECK(training.wait() == 1);
    const std::string log = base::read_whole(scratch / "run.log");
    INFO(log);
    CHECK(log.find("no progress for 1s; waiting: rank ") != std::string::npos);
    CHECK(log.find("silent (stopped, dead or cut off): rank ") != std::string::npos);
    CHECK(all_end(ranks));
}

TEST_CASE("a training ends after its duration")
{
    const testing::Scratch scratch;
    const testing::TrainRun run =
        testing::train_alone(scratch / "run", small({"--duration", "200ms", "--trace", "off"}));
    REQUIRE(run.status == 0);
    CHECK(run.result["steps"].get<int>() >= 2);
    CHECK(run.result["stopped_by_signal"] == false);
}

// -------------------------------------------------------------------------------------------------- what is refused

TEST_CASE("what makes no sense is refused with one line and nothing is made")
{
    const testing::Scratch scratch;
    const testing::TrainRun run = testing::train_alone(scratch / "run", small({"--strategy", "naiv"}));
    CHECK(run.status == 2);
    CHECK(run.err == "ddl-train: no strategy 'naiv'; did you mean naive? (ddl-train --list shows all)\n");
    CHECK_FALSE(fs::exists(scratch / "run"));
}

TEST_CASE("a CPU that does not exist is refused")
{
    const testing::Scratch scratch;
    const testing::TrainRun run = testing::train_alone(scratch / "run", small({"--cpus", "60000"}));
    CHECK(run.status == 2);
    CHECK(lines(run.err) == 1);
    CHECK(run.err.starts_with("ddl-train: CPU 60000 does not exist"));
}

TEST_CASE("a batch larger than the data is refused on all ranks")
{
    const testing::Scratch scratch;
    const testing::TrainRun run = testing::train(2, scratch / "run", small({"--batch", "1000"}));
    CHECK(run.status == 2);
    CHECK(run.err.find("ddl-train: the data set's 130 samples do not fill one step of 2 ranks") != std::string::npos);
    CHECK(run.err.find("cannot open") == std::string::npos);
    CHECK_FALSE(fs::exists(scratch / "run/train"));
}

TEST_CASE("the part of an earlier training is left alone")
{
    const testing::Scratch scratch;
    fs::create_directories(scratch / "run/train");
    base::write_whole(scratch / "run/train/steps.csv", "precious\n");
    for (const int ranks : {1, 2}) {
        const testing::TrainRun run = ranks == 1 ? testing::train_alone(scratch / "run", small({"--steps", "2"}))
                                                 : testing::train(2, scratch / "run", small({"--steps", "2"}));
        CHECK(run.status == 2);
        CHECK(run.err.find("already there") != std::string::npos);
        CHECK(base::read_whole(scratch / "run/train/steps.csv") == "precious\n");
    }
}

TEST_CASE("without an output directory a training says so")
{
    const testing::Outcome outcome = testing::run({CROSSTALK_BIN "/ddl-train", "--steps", "2"});
    CHECK(outcome.status == 2);
    CHECK(outcome.err == "ddl-train: --out DIR is needed: where the results go\n");
}

TEST_CASE("the list names every plug-in")
{
    const testing::Outcome outcome = testing::run({CROSSTALK_BIN "/ddl-train", "--list"});
    CHECK(outcome.status == 0);
    for (const char* name :
         {"emulated", "digits", "synthetic", "none", "naive", "ddp", "cycle", "zero1", "mpi", "self"})
        CHECK(outcome.out.find(name) != std::string::npos);
}
