// SPDX-License-Identifier: Apache-2.0
// A training's run record: the settings in effect, and the sources of its metrics.
#include "base/files.hpp"
#include "ddl-workloads/instruments/phases.hpp"
#include "testing/testing.hpp"
#include "testing/train_runs.hpp"
#include "testing/train_traces.hpp"
#include "trace-tools/otf2/read/reader.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

using testing::Words;
namespace fs = std::filesystem;
using testing::lines;
using testing::small;

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
    words.push_back(CROSSTALK_BIN "/ddl-train");
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
    CHECK(refused.err.find("available on this machine: task-clock") != std::string::npos);
    CHECK_FALSE(fs::exists(scratch / "run"));
    REQUIRE(testing::train_alone(scratch / "run", small({"--steps", "2", "--metrics", "minor-faults"})).status == 0);
    const nlohmann::json metrics = recorded_metrics(scratch / "run");
    CHECK(find_metric(metrics, "minor-faults") != nullptr);
    CHECK(find_metric(metrics, "task-clock") == nullptr);
    CHECK(find_metric(metrics, "bytes_reduced") != nullptr);
}
