// SPDX-License-Identifier: Apache-2.0
// --device staged: a training whose data is copied back and forth as for a GPU ends with the same bits as one without
// these copies.
#include "base/error.hpp"
#include "base/files.hpp"
#include "testing/testing.hpp"
#include "testing/train_runs.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <string>

using testing::Words;
using testing::operator+;

#ifdef CROSSTALK_DDL_TORCH

namespace {

const Words staged{"--device", "staged"};
const Words images{"--data", "synthetic[samples=400]", "--batch", "2", "--trace", "off"};

// Runs each training in a directory of its own.
class Trainings {
 public:
    explicit Trainings(int ranks) : ranks_{ranks} {}

    testing::TrainRun run(const Words& words)
    {
        last_ = scratch_ / std::to_string(number_++);
        testing::TrainRun run = ranks_ == 1 ? testing::train_alone(last_, words) : testing::train(ranks_, last_, words);
        INFO(run.err);
        REQUIRE(run.status == 0);
        return run;
    }

    std::string checksum(const Words& words) { return run(words).result["checksum"].get<std::string>(); }

    // Checks that the training ends on the staged device as on the CPU: same checksum, loss and other results. Returns
    // the checksum.
    std::string check_as_on_cpu(const Words& words)
    {
        const testing::TrainRun there = run(words + staged);
        const testing::TrainRun here = run(words);
        for (const char* member : {"checksum", "loss", "accuracy", "steps", "guards", "stored", "bytes_averaged"}) {
            CAPTURE(member);
            CHECK(there.result[member] == here.result[member]);
        }
        return there.result["checksum"];
    }

    const std::filesystem::path& last() const { return last_; }
    std::filesystem::path operator/(const char* name) const { return scratch_ / name; }

 private:
    testing::Scratch scratch_;
    std::filesystem::path last_;
    int ranks_;
    int number_ = 0;
};

}  // namespace

TEST_CASE("copies to and from a device change no bit, whatever the strategy")
{
    Trainings pairs{2};
    const Words mlp = images + Words{"--model", "mlp[hidden=16]", "--steps", "12"};
    const std::string cpu = pairs.checksum(mlp + Words{"--strategy", "naive"});
    Words strategies{"ddp[first=1kB,cap=8kB]", "cycle[fusion=40kB]", "zero1[cap=8kB]"};
    if (testing::at_night())
        strategies =
            strategies + Words{"naive", "ddp[view=no]", "ddp[static_graph=yes]", "cycle[alone=1kB]", "zero1[view=no]"};
    for (const std::string& strategy : strategies) {
        CAPTURE(strategy);
        CHECK(pairs.checksum(mlp + staged + Words{"--strategy", strategy}) == cpu);
    }
}

TEST_CASE("copies to and from a device change no bit of any model")
{
    Trainings pairs{2};
    const testing::Scratch scratch;
    const Words text = testing::some_text(scratch / "text", 12) + Words{"--batch", "2", "--trace", "off"};
    const Words ten{"--steps", "10"};
    pairs.check_as_on_cpu(images + ten + Words{"--model", "resnet18[width=4]", "--accumulate", "2"});
    pairs.check_as_on_cpu(text + ten +
                          Words{"--model", "gpt[layers=2,width=16,heads=2]", "--optimizer", "adamw", "--strategy",
                                "zero1", "--accumulate", "2"});
    if (!testing::at_night()) return;
    pairs.check_as_on_cpu(ten + Words{"--model", "dlrm[embedding=4,bottom=8,top=8]", "--data",
                                      "clicks[samples=400,dense=4,categories=5,rows=50]", "--trace", "off"});
    pairs.check_as_on_cpu(images + ten + Words{"--model", "resnet18[width=4]", "--strategy", "none"});
    pairs.check_as_on_cpu(text + ten +
                          Words{"--model", "gpt[layers=2,width=16,heads=2]", "--strategy", "ddp[hook=fp16]"});
    pairs.check_as_on_cpu(
        text + ten + Words{"--model", "gpt[layers=2,width=16,heads=2]", "--strategy", "cycle", "--accumulate", "2"});
}

TEST_CASE("a training on a device resumes with the same bits")
{
    Trainings alone{1};
    const Words mlp = images + Words{"--model", "mlp[hidden=16]", "--optimizer", "adamw"};
    const std::string whole = alone.checksum(mlp + Words{"--steps", "8"});
    alone.run(mlp + staged + Words{"--steps", "5", "--checkpoint-every", "5", "--checkpoint-mode", "async"});
    const std::string first = alone.last().string();
    CHECK(alone.checksum(mlp + staged + Words{"--steps", "8", "--resume", first}) == whole);
    CHECK(alone.checksum(mlp + Words{"--steps", "8", "--resume", first}) == whole);
}

TEST_CASE("what alters and guards a training's numbers reaches those of a device")
{
    Trainings alone{1};
    const Words mlp = images + Words{"--model", "mlp[hidden=16,layers=1]", "--steps", "10", "--strategy", "ddp"};
    const std::string sound = alone.checksum(mlp);
    const auto flips = [&](const char* name, const std::string& path, int bit) {
        const std::filesystem::path file = alone / name;
        base::write_whole(file, base::join("{\"", path, "\": [[[5], [", bit, "]]]}"));
        return mlp + Words{"--alter", "0:4:" + file.string()};
    };
    const std::string weight = "layers.head.0.weight";
    Words places{"model/", "gradient/"};
    if (testing::at_night()) places = places + Words{"optimizer/momentum/", "mean/"};
    for (const std::string& place : places) {
        CAPTURE(place);
        const Words altered = flips("flips.json", place + weight, 9);
        CHECK(alone.check_as_on_cpu(altered) != sound);
    }
    const Words large = flips("large.json", "model/" + weight, 1);
    alone.check_as_on_cpu(large + Words{"--guard", "range=100,norm=10x", "--on-guard", "repair"});
    if (testing::at_night()) alone.check_as_on_cpu(large + Words{"--guard", "range=100", "--on-guard", "rollback=4"});
    alone.check_as_on_cpu(mlp + Words{"--store", "int8", "--detect", "parity", "--bit-error-rate", "1e-3"});
}

TEST_CASE("a training in 16 bits learns about what one in 32 bits learns")
{
    Trainings alone{1};
    const Words mlp = images + Words{"--model", "mlp[hidden=16]", "--steps", "20"};
    const testing::TrainRun half = alone.run(mlp + Words{"--precision", "bf16"});
    const auto record = nlohmann::json::parse(base::read_whole(alone.last() / "train/run.json"));
    CHECK(record["training"]["precision"] == "bf16");
    CHECK(record["result"]["each_rank"][0]["computing"]["precision"] == "bf16");
    const testing::TrainRun full = alone.run(mlp);
    CHECK(half.result["loss"].get<double>() == doctest::Approx(full.result["loss"].get<double>()).epsilon(0.05));
    CHECK(half.result["checksum"] != full.result["checksum"]);
}

#endif
