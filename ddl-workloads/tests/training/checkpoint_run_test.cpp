// SPDX-License-Identifier: Apache-2.0
// The real ddl-train writes checkpoints, is killed, and resumes.
#include "base/csv.hpp"
#include "base/files.hpp"
#include "ddl-workloads/checkpoint/checkpoint_reader.hpp"
#include "ddl-workloads/checkpoint/checkpoint_store.hpp"
#include "testing/testing.hpp"
#include "testing/train_runs.hpp"
#include "trace-tools/otf2/read/reader.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <thread>

using testing::operator+;
using testing::Words;

namespace {

namespace fs = std::filesystem;

const Words quick{"--model", "emulated[compute=100us,gradients=64kB,buckets=2]",
                  "--data",  "synthetic[samples=160]",
                  "--trace", "off"};

fs::path checkpoints_of(const fs::path& run)
{
    return run / "train/checkpoints";
}

std::map<std::string, std::vector<std::byte>> tensors_of(const fs::path& checkpoint)
{
    return ddl::CheckpointReader{checkpoint}.tensors();
}

// Kills a rank once the checkpoint of that step exists; ignores how the other ranks end.
void train_and_kill(int ranks, const fs::path& run, const Words& words, std::int64_t step)
{
    testing::RunningTraining training{ranks, run, words};
    while (!fs::exists(ddl::checkpoint_path(checkpoints_of(run), step))) {
        REQUIRE(testing::runs(training.launcher()));
        std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
    const std::vector<pid_t> processes = training.ranks();
    REQUIRE(processes.size() == static_cast<std::size_t>(ranks));
    ::kill(processes.back(), SIGKILL);
    CHECK(training.wait() != 0);
}

void flip_bit_in_the_middle(const fs::path& file)
{
    std::string content = base::read_whole(file);
    content[content.size() / 2] = static_cast<char>(content[content.size() / 2] ^ 1);
    base::write_whole(file, content);
}

}  // namespace

TEST_CASE("a training that was killed resumes from its checkpoint to the same bits")
{
    struct Case {
        int ranks;
        Words model;
        Words checkpoint;
        bool in_place;
    };
    const Words emulated{"--model", "emulated[compute=100us,gradients=64kB,buckets=2]"};
    std::vector<Case> cases{{2, emulated, {"--checkpoint-mode", "async", "--checkpoint-by", "sharded"}, true}};
#ifdef CROSSTALK_DDL_TORCH
    cases.push_back(
        {2, {"--model", "mlp[hidden=16]"}, {"--checkpoint-mode", "async", "--checkpoint-format", "raw"}, false});
    if (testing::at_night()) {
        cases.push_back({1, {"--model", "mlp[hidden=16]", "--optimizer", "adamw"}, {}, true});
        cases.push_back(
            {2, {"--model", "resnet18[width=2]"}, {"--checkpoint-by", "sharded", "--checkpoint-format", "raw"}, false});
    }
#endif
    const testing::Scratch scratch;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const auto& [ranks, model, checkpoint, in_place] = cases[i];
        INFO(model[1], " on ", ranks, " ranks");
        // An epoch has 50 steps on 2 ranks.
        const Words words =
            model + Words{"--data", "synthetic[samples=250]", "--batch", "2", "--trace", "off", "--checkpoint-every",
                          "10",     "--checkpoint-keep",      "0"};
        const fs::path whole = scratch / base::join("whole", i);
        const testing::TrainRun uninterrupted =
            testing::train(ranks, whole, words + Words{"--steps", "120", "--checkpoint-fsync", "no"});
        REQUIRE(uninterrupted.status == 0);

        const fs::path killed = scratch / base::join("killed", i);
        train_and_kill(ranks, killed, words + checkpoint + Words{"--duration", "60s", "--delay", "0:load:20ms"}, 20);
        const fs::path resumed = in_place ? killed : scratch / base::join("resumed", i);
        const testing::TrainRun rest = testing::train(
            ranks, resumed,
            words + checkpoint + Words{"--steps", "120", "--resume", in_place ? "auto" : killed.string()});
        INFO(rest.err);
        REQUIRE(rest.status == 0);
        CHECK(rest.result["first_step"] >= 20);
        CHECK(rest.result["first_step"] < 120);
        CHECK(rest.result["checksum"] == uninterrupted.result["checksum"]);
        CHECK(rest.result["checkpoints"]["failed"] == 0);
        CHECK(tensors_of(ddl::checkpoint_path(checkpoints_of(resumed), 120)) ==
              tensors_of(ddl::checkpoint_path(checkpoints_of(whole), 120)));
        CHECK(fs::exists(killed / "train.1/checkpoints") == in_place);
        const base::CsvTable steps{resumed / "train/steps.csv"};
        CHECK(steps.get<std::int64_t>(0, "step") == rest.result["first_step"]);
    }
}

TEST_CASE("a training that a signal ends writes its last step and resumes from there to the same bits")
{
    const Words words{"--model",
                      "emulated[compute=100us,gradients=64kB,buckets=2]",
                      "--data",
                      "synthetic[samples=160]",
                      "--batch",
                      "2",
                      "--delay",
                      "0:load:5ms",
                      "--checkpoint-every",
                      "1000000"};
    const testing::Scratch scratch;
    for (const Words& how : {Words{"--checkpoint-by", "sharded"}, Words{"--checkpoint-mode", "async"}}) {
        const std::string name = how.back();
        const fs::path stopped = scratch / ("stopped." + name);
        testing::RunningTraining training{2, stopped, words + how + Words{"--duration", "60s"}};
        training.wait_for_steps();
        ::kill(training.ranks().back(), SIGTERM);
        CHECK(training.wait() == 0);
        CHECK(fs::exists(stopped / "train/trace/traces.otf2"));
        const base::CsvTable steps{stopped / "train/steps.csv"};
        const auto last = steps.get<std::int64_t>(steps.rows() - 1, "step") + 1;
        CHECK(ddl::checkpoints_in(checkpoints_of(stopped)) ==
              std::vector{ddl::checkpoint_path(checkpoints_of(stopped), last)});

        const Words rest = words + Words{"--trace", "off", "--steps", std::to_string(last + 10)};
        const testing::TrainRun resumed =
            testing::train(2, scratch / ("resumed." + name), rest + Words{"--resume", stopped.string()});
        const testing::TrainRun whole = testing::train(2, scratch / ("whole." + name), rest);
        INFO(resumed.err);
        REQUIRE(resumed.status == 0);
        CHECK(resumed.result["first_step"] == last);
        CHECK(resumed.result["checksum"] == whole.result["checksum"]);
    }
}

TEST_CASE("what is written beside the steps is seen in the trace with its step and bytes")
{
    class Writes : public otf2::Visitor {
     public:
        explicit Writes(const otf2::Archive& archive) : archive_{archive} {}
        std::vector<std::string> seen;

        void enter(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes& attributes) override
        {
            if (archive_.regions.at(region).name != "checkpoint_write") return;
            CHECK(archive_.locations.at(at.location).name == "checkpoint writer");
            seen.push_back(base::join("step ", *attributes.number(*archive_.find_attribute("step")), " bytes ",
                                      *attributes.number(*archive_.find_attribute("bytes"))));
        }
        void leave(const otf2::At&, std::uint32_t region, const otf2::EventAttributes&) override
        {
            if (archive_.regions.at(region).name == "checkpoint_write") seen.emplace_back("end");
        }

     private:
        const otf2::Archive& archive_;
    };
    const testing::Scratch scratch;
    for (const std::string mode : {"async", "sync"}) {
        const testing::TrainRun run =
            testing::train_alone(scratch / mode, {"--model", "emulated[compute=1ms,gradients=64kB,buckets=2]", "--data",
                                                  "synthetic[samples=160]", "--steps", "12", "--checkpoint-every", "6",
                                                  "--checkpoint-mode", mode});
        INFO(run.err);
        REQUIRE(run.status == 0);
        otf2::Reader reader{scratch / mode / "train/trace/traces.otf2"};
        Writes writes{reader.archive()};
        reader.read(writes);
        const std::string bytes = std::to_string(64'000 + 2 * 2 * 4 + 8);  // gradients, parameters, number of steps
        const std::vector<std::string> both{"step 5 bytes " + bytes, "end", "step 11 bytes " + bytes, "end"};
        CHECK(writes.seen == (mode == "async" ? both : std::vector<std::string>{}));
    }
}

TEST_CASE("ranks that train alone go on each from its own state")
{
    const testing::Scratch scratch;
    const Words words = quick + Words{"--strategy", "none", "--checkpoint-every", "5"};
    const testing::TrainRun refused = testing::train(2, scratch / "refused", words + Words{"--steps", "5"});
    CHECK(refused.status == 2);
    CHECK(refused.err.find("use --checkpoint-by sharded") != std::string::npos);
    const Words sharded = words + Words{"--checkpoint-by", "sharded"};
    const auto checksums = [&](const char* run) {
        const auto record = nlohmann::json::parse(base::read_whole(scratch / run / "train/run.json"));
        const auto& ranks = record["result"]["each_rank"];
        return std::pair{ranks[0]["checksum"].get<std::string>(), ranks[1]["checksum"].get<std::string>()};
    };
    REQUIRE(testing::train(2, scratch / "whole", sharded + Words{"--steps", "12"}).status == 0);
    REQUIRE(testing::train(2, scratch / "half", sharded + Words{"--steps", "7"}).status == 0);
    const testing::TrainRun rest =
        testing::train(2, scratch / "rest", sharded + Words{"--steps", "12", "--resume", scratch / "half"});
    INFO(rest.err);
    REQUIRE(rest.status == 0);
    CHECK(rest.result["first_step"] == 5);
    CHECK(checksums("rest") == checksums("whole"));
    CHECK(checksums("rest").first != checksums("rest").second);
}

#ifdef CROSSTALK_DDL_TORCH
TEST_CASE("an optimizer that is shared out, and steps of several passes, go on to the same bits")
{
    const testing::Scratch scratch;
    const Words words{"--model",
                      "mlp[hidden=16]",
                      "--data",
                      "synthetic[samples=160]",
                      "--trace",
                      "off",
                      "--strategy",
                      "zero1",
                      "--batch",
                      "2",
                      "--steps",
                      "20",
                      "--accumulate",
                      "2",
                      "--seed",
                      "3",
                      "--optimizer",
                      "adamw",
                      "--checkpoint-every",
                      "10",
                      "--checkpoint-by",
                      "sharded"};
    const testing::TrainRun whole = testing::train(2, scratch / "whole", words);
    REQUIRE(whole.status == 0);
    const fs::path middle = ddl::checkpoint_path(checkpoints_of(scratch / "whole"), 10);
    const testing::TrainRun half = testing::train(2, scratch / "half", words + Words{"--resume", middle.string()});
    REQUIRE(half.status == 0);
    CHECK(half.result["steps"] == 10);
    CHECK(half.result["checksum"] == whole.result["checksum"]);
}
#endif

TEST_CASE("a damaged checkpoint is named and the one before it used")
{
    const testing::Scratch scratch;
    const Words words = quick + Words{"--checkpoint-every", "10", "--checkpoint-keep", "2"};
    const testing::TrainRun first = testing::train_alone(scratch / "run", words + Words{"--steps", "30"});
    INFO(first.err);
    REQUIRE(first.status == 0);
    CHECK(first.result["checkpoints"]["written"] == 3);
    const std::vector<fs::path> kept = ddl::checkpoints_in(checkpoints_of(scratch / "run"));
    REQUIRE(kept == std::vector<fs::path>{checkpoints_of(scratch / "run") / "step-000000030",
                                          checkpoints_of(scratch / "run") / "step-000000020"});
    flip_bit_in_the_middle(kept[0] / "checkpoint.h5");
    const Words more = words + Words{"--steps", "40", "--resume", scratch / "run"};
    const testing::TrainRun second = testing::train_alone(scratch / "second", more);
    CHECK(second.status == 0);
    CHECK(second.result["first_step"] == 20);
    CHECK(second.err.find((kept[0] / "checkpoint.h5: /model/bucket.").string()) != std::string::npos);
    CHECK(second.err.find("is damaged: its CRC-32C is ") != std::string::npos);
    CHECK(second.err.find("; trying the previous checkpoint\n") != std::string::npos);
    const testing::TrainRun of_folder = testing::train_alone(
        scratch / "of-folder", words + Words{"--steps", "40", "--resume", checkpoints_of(scratch / "run")});
    CHECK(of_folder.result["first_step"] == 20);

    flip_bit_in_the_middle(kept[1] / "checkpoint.h5");
    const testing::TrainRun third = testing::train_alone(scratch / "third", more);
    CHECK(third.status == 1);
    CHECK(third.err.find("ddl-train: no checkpoint to resume from: ") != std::string::npos);
    CHECK_FALSE(fs::exists(scratch / "third/train"));
}

TEST_CASE("a training that would not go on alike is refused and says why")
{
    const testing::Scratch scratch;
    const Words words = quick + Words{"--checkpoint-every", "5"};
    REQUIRE(testing::train_alone(scratch / "run", words + Words{"--steps", "5"}).status == 0);
    const testing::TrainRun run = testing::train_alone(
        scratch / "other", words + Words{"--steps", "9", "--seed", "2", "--resume", scratch / "run"});
    CHECK(run.status == 2);
    CHECK(run.err == "ddl-train: --resume: that training had --seed 1, not 2\n");
    const testing::TrainRun none = testing::train_alone(scratch / "none", words + Words{"--resume", scratch.path()});
    CHECK(none.status == 1);
    CHECK(none.err.find("has no checkpoint") != std::string::npos);
}

TEST_CASE("a checkpoint of weights has parameters only, and resuming from it is refused")
{
    const testing::Scratch scratch;
    const Words words = quick + Words{"--checkpoint-every", "5", "--checkpoint-content", "weights"};
    REQUIRE(testing::train_alone(scratch / "run", words + Words{"--steps", "5"}).status == 0);
    const fs::path checkpoint = ddl::checkpoint_path(checkpoints_of(scratch / "run"), 5);
    for (const auto& [path, bytes] : tensors_of(checkpoint)) CHECK(path.starts_with("model/"));
    const testing::TrainRun run =
        testing::train_alone(scratch / "other", words + Words{"--steps", "9", "--resume", scratch / "run"});
    CHECK(run.status == 2);
    CHECK(run.err == "ddl-train: --resume: " + checkpoint.string() +
                         " holds only weights: the optimizer's state and the random numbers are missing\n");
    CHECK_FALSE(fs::exists(scratch / "other/train"));
}

TEST_CASE("a training that resumes with other rates says so")
{
    const testing::Scratch scratch;
    const Words words = quick + Words{"--checkpoint-every", "5"};
    REQUIRE(testing::train_alone(scratch / "run", words + Words{"--steps", "5"}).status == 0);
    const Words more = words + Words{"--steps", "9", "--resume", scratch / "run"};
    const testing::TrainRun alike = testing::train_alone(scratch / "alike", more);
    CHECK(alike.status == 0);
    CHECK(alike.err.find("not bit-identical") == std::string::npos);
    const testing::TrainRun other = testing::train_alone(scratch / "other", more + Words{"--lr", "0.5"});
    CHECK(other.status == 0);
    CHECK(other.err.find(
              "ddl-train: not bit-identical to an uninterrupted run: --lr 0.5 --momentum 0.9 --weight-decay 0.0005, "
              "earlier --lr 0.01 --momentum 0.9 --weight-decay 0.0005\n") != std::string::npos);
}

TEST_CASE("resume auto begins where nothing was written before, and checkpoints come by time")
{
    const testing::Scratch scratch;
    const Words words = quick + Words{"--checkpoint-every", "50ms", "--resume", "auto"};
    const testing::TrainRun first = testing::train_alone(
        scratch / "run", words + Words{"--steps", "40", "--delay", "0:load:5ms", "--checkpoint-mode", "async"});
    INFO(first.err);
    REQUIRE(first.status == 0);
    CHECK(first.result["first_step"] == 0);
    CHECK(first.result["checkpoints"]["written"] >= 1);
    const testing::TrainRun second = testing::train_alone(scratch / "run", words + Words{"--steps", "50"});
    CHECK(second.status == 0);
    CHECK(second.result["first_step"] > 0);
    CHECK(fs::exists(scratch / "run/train.1/run.json"));
}
