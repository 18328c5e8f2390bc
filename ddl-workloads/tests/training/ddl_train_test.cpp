// SPDX-License-Identifier: Apache-2.0
// The real program ddl-train: its results, its files and its errors.
#include "base/contract/control_file.hpp"
#include "base/csv.hpp"
#include "base/files.hpp"
#include "base/system/clock.hpp"
#include "base/system/cpus.hpp"
#include "ddl-workloads/instruments/phases.hpp"
#include "testing/testing.hpp"
#include "testing/train_runs.hpp"
#include "testing/train_traces.hpp"
#include "trace-tools/otf2/read/reader.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <map>

using testing::Words;
namespace fs = std::filesystem;
using testing::lines;
using testing::small;
using testing::StepsOfTrace;

namespace {

// Waits up to five seconds, since a killed process takes a moment to end.
bool all_end(const std::vector<pid_t>& processes)
{
    const auto any_runs = [&] { return std::any_of(processes.begin(), processes.end(), testing::runs); };
    const std::int64_t patience_ends = base::now_ns() + 5'000'000'000;
    while (any_runs() && base::now_ns() < patience_ends) base::sleep_until_ns(base::now_ns() + 50'000'000);
    return !any_runs();
}

}  // namespace

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
        CHECK(run.err.find(until[0] + " needs a model that learns") != std::string::npos);
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
    const testing::TrainRun loss = testing::trained(2, scratch / "loss", until_loss);
    CHECK(loss.result["ended_by"] == "loss");
    CHECK(loss.result["ranks_agree"] == true);
    CHECK(loss.result["steps"] >= 10);
    Words until_accuracy = mlp;
    until_accuracy.insert(until_accuracy.end(), {"--until-accuracy", "60%"});
    const testing::TrainRun accuracy = testing::trained(2, scratch / "accuracy", until_accuracy);
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
    const testing::TrainRun run = testing::trained_alone(
        scratch / "run",
        small({"--steps", "2", "--cpus", base::format_cpus(first), "--transport-cpus", base::format_cpus(last)}));
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
        CHECK(threads >= 4);  // main thread, transport thread, two readers
    }
}

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
    CHECK(outcome.err == "ddl-train: give --out DIR for the results\n");
}

TEST_CASE("the list names every plug-in")
{
    const testing::Outcome outcome = testing::run({CROSSTALK_BIN "/ddl-train", "--list"});
    CHECK(outcome.status == 0);
    for (const char* name :
         {"emulated", "digits", "synthetic", "none", "naive", "ddp", "cycle", "zero1", "mpi", "self"})
        CHECK(outcome.out.find(name) != std::string::npos);
}
