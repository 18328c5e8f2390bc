// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "ddl-workloads/plan/parse_plan.hpp"
#include "ddl-workloads/train/report.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

namespace {

std::optional<ddl::TrainingPlan> parsed(std::vector<std::string> words,
                                        const std::vector<const ddl::ModelCard*>& more_models = {},
                                        const std::vector<base::OptionCard>& of_hooks = {})
{
    words.insert(words.begin(), "ddl-train");
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    return ddl::parse_plan(static_cast<int>(words.size()), arguments.data(), ddl::model_registry(more_models),
                           of_hooks);
}

}  // namespace

TEST_CASE("plug-ins and options that do not go together are refused with those that would")
{
    const auto refusal = [](std::vector<std::string> words) -> std::string {
        words.insert(words.end(), {"--out", "there"});
        try {
            parsed(words);
        } catch (const base::UsageError& error) {
            return error.what();
        }
        return "";
    };
    CHECK(refusal({"--transport", "self"}).empty());
    CHECK(refusal({"--transport", "nccl", "--strategy", "none"}) == "--transport nccl needs --device cuda");
    for (const std::string strategy : {"zero1", "naive", "cycle", "ddp[hook=fp16]"})
        CHECK(refusal({"--transport", "nccl", "--strategy", strategy})
                  .starts_with("--strategy " + strategy +
                               " needs a transport that exchanges buckets in host memory: --transport "));
    CHECK(refusal({"--transport", "self", "--progress", "spin"})
              .starts_with("--progress needs a transport with --progress"));
    // Only LibTorch models can be used with --device staged.
    CHECK(refusal({"--transport", "self", "--device", "staged"}) ==
          "--device staged needs a model that computes where --device says");
    CHECK(refusal({"--transport", "self", "--until-accuracy", "90%"}) == "--until-accuracy needs a model that learns");
    CHECK(refusal({"--transport", "self", "--strategy", "none", "--replicas-every", "2"})
              .starts_with("--replicas-every needs a strategy that keeps parameters equal on all ranks: --strategy "
                           "naive, --strategy ddp"));
}

TEST_CASE("of all combinations a checkpoint has, those of a format that does not compress are refused")
{
    for (const ddl::CheckpointFormat* format : ddl::checkpoint_formats().cards())
        for (const std::string content : {"training", "weights"})
            for (const std::string compress : {"none", "gzip=4"})
                for (const std::string by : {"rank0", "sharded", "all"})
                    for (const std::string mode : {"sync", "async"}) {
                        INFO(format->name, " ", content, " ", compress, " ", by, " ", mode);
                        std::string why;
                        try {
                            parsed({"--transport", "self", "--out", "there", "--checkpoint-every", "10",
                                    "--checkpoint-format", format->name, "--checkpoint-content", content,
                                    "--checkpoint-compress", compress, "--checkpoint-by", by, "--checkpoint-mode",
                                    mode});
                        } catch (const base::UsageError& error) {
                            why = error.what();
                        }
                        CHECK(why == (compress == "none" || format->name == "hdf5"
                                          ? ""
                                          : "--checkpoint-compress gzip=4 needs a checkpoint format that compresses: "
                                            "--checkpoint-format hdf5"));
                    }
}

TEST_CASE("a strategy that exchanges gradients is refused for a model that has none")
{
    const ddl::ModelCard whole{
        .name = "whole", .summary = "has no gradients to exchange", .options = {}, .make = nullptr};
    const std::vector<std::string> words{"--transport", "self", "--model", "whole", "--out", "there", "--strategy"};
    const auto with = [&](const std::string& strategy) {
        std::vector<std::string> all = words;
        all.push_back(strategy);
        return parsed(all, {&whole});
    };
    CHECK(with("none"));
    for (const char* strategy : {"naive", "ddp", "zero1", "cycle"}) CHECK_THROWS_AS(with(strategy), base::UsageError);
}

TEST_CASE("options of a training that make no sense are refused")
{
    const std::vector<std::vector<std::string>> wrong{
        {"--model", "emulatad"},
        {"--transport", "nccl"},
        {"--transport", "nccl", "--device", "cuda", "--strategy", "zero1"},
        {"--transport", "nccl", "--device", "cuda", "--strategy", "ddp[hook=fp16]"},
        {"--cuda-graphs"},
        {"--cuda-graphs", "--device", "cuda", "--strategy", "ddp"},
        {"--cuda-graphs", "--device", "cuda", "--strategy", "none", "--accumulate", "2"},
        {"--trace-gpu", "--trace", "off"},
        {"--model", "emulated[colour=red]"},
        {"--model", "emulated["},
        {"--strategy", "dpd"},
        {"--strategy", "none[cap=1MiB]"},
        {"--strategy", "cycle[cap=1MiB]"},
        {"--data", "digitz"},
        {"--transport", "mpl"},
        {"--progress", "spinn"},
        {"--optimizer", "adam"},
        {"--lr", "fast"},
        {"--batch", "0"},
        {"--accumulate", "0"},
        {"--steps", "-1"},
        {"--epochs", "-1"},
        {"--duration", "5"},
        {"--duration", "-5s"},
        {"--control-delay", "-1ms"},
        {"--until-loss", "low"},
        {"--stall-after", "-1s"},
        {"--until-accuracy", "0.95"},
        {"--until-accuracy", "101%"},
        {"--checkpoint-every", "0"},
        {"--checkpoint-every", "often"},
        {"--checkpoint-every", "-5s"},
        {"--checkpoint-every", "auto"},
        {"--checkpoint-every", "auto:0%"},
        {"--checkpoint-every", "auto:100%"},
        {"--checkpoint-every", "10", "--checkpoint-mode", "later"},
        {"--checkpoint-every", "10", "--checkpoint-by", "rank1"},
        {"--checkpoint-every", "10", "--checkpoint-keep", "-1"},
        {"--checkpoint-every", "10", "--checkpoint-format", "npz"},
        {"--checkpoint-every", "10", "--checkpoint-content", "all"},
        {"--checkpoint-every", "10", "--checkpoint-compress", "gzip=0"},
        {"--checkpoint-every", "10", "--checkpoint-compress", "gzip"},
        {"--checkpoint-every", "10", "--checkpoint-compress", "gzip=4", "--checkpoint-format", "raw"},
        {"--checkpoint-compress", "gzip=4"},
        {"--checkpoint-keep", "2"},
        {"--delay", "1:backward"},
        {"--delay", "1:backwards:5ms"},
        {"--delay", "x:backward:5ms"},
        {"--delay", "-1:backward:5ms"},
        {"--delay", "1:backward:0ms"},
        {"--delay", "1:backward:5"},
        {"--delay", "1:backward:5ms:every=0"},
        {"--delay", "1:backward:5ms:often"},
        {"--delay", "1:backward:5ms:for=2"},
        {"--delay", "1:backward:5ms:every=4:for=5"},
        {"--delay", "1:control_delay:5ms"},
        {"--threads", "0"},
        {"--device", "gpu"},
        {"--device", "cuda:first"},
        {"--precision", "fp16"},
        {"--precision", "tf32"},
        {"--sync-phases", "--device", "staged"},
        {"--cpus", "3-1"},
        {"--transport-cpus", "3-1"},
        {"--readers", "-1"},
        {"--queue", "0"},
        {"--transforms", "-1"},
        {"--augment", "rotate"},
        {"--corrupt", "ignore"},
        {"--direct", "--drop-page-cache"},
        {"--trace", "maybe"},
        {"--metrics", "auto", "--trace", "off"},
        {"--transport", "self", "--progress", "spin"},
        {"--transport", "gloo[port=3]"},
        {"--transport", "gloo", "--progress", "spin"},
        {"--stepz", "3"},
        {"--out", ""},
    };
    for (std::vector<std::string> words : wrong) {
        INFO(words[0], " ", words[1]);
        if (words[0] != "--out") words.insert(words.end(), {"--out", "run"});
        if (words[0] != "--model") words.insert(words.end(), {"--model", "emulated"});
        CHECK_THROWS_AS(parsed(words), base::UsageError);
    }
}

TEST_CASE("a delay to inject says rank and phase and time and how often")
{
    const auto plan = parsed(
        {"--model", "emulated", "--out", "run", "--delay", "1:backward:5ms", "--delay", "0:load:250us:every=10:busy"});
    REQUIRE(plan->delays.injected.size() == 2);
    CHECK(plan->delays.injected[0].rank == 1);
    CHECK(plan->delays.injected[0].phase == ddl::Phase::backward);
    CHECK(plan->delays.injected[0].time.count() == 5'000'000);
    CHECK(plan->delays.injected[0].every == 1);
    CHECK_FALSE(plan->delays.injected[0].busy);
    CHECK(plan->delays.injected[1].phase == ddl::Phase::load);
    CHECK(plan->delays.injected[1].every == 10);
    CHECK(plan->delays.injected[1].busy);
}

TEST_CASE("checkpoints come after steps, after a time or by their cost")
{
    const auto every = [](const char* text) {
        return parsed({"--model", "emulated", "--out", "run", "--checkpoint-every", text})->checkpoint;
    };
    CHECK(every("100").every_steps == 100);
    CHECK(every("7steps").every_steps == 7);
    CHECK(every("30s").every_steps == 0);
    CHECK(every("30s").every_time == std::chrono::seconds{30});
    CHECK(every("auto:3%").share == doctest::Approx(0.03));
    CHECK(every("auto:3%").every_steps == 0);
    CHECK_THROWS_WITH_AS(every("auto:3"), "--checkpoint-every auto:3: '3' is not a percentage, such as 30%",
                         base::UsageError);
    CHECK_FALSE(parsed({"--model", "emulated", "--out", "run"})->checkpoint.on());
}

TEST_CASE("a training with no end given makes a hundred steps")
{
    CHECK(parsed({"--model", "emulated", "--out", "run"})->ends.steps == 100);
    CHECK(parsed({"--model", "emulated", "--out", "run", "--duration", "5s"})->ends.steps == 0);
    CHECK(parsed({"--model", "emulated", "--out", "run", "--epochs", "2"})->ends.steps == 0);
}

TEST_CASE("the learning rate is the optimizer's own unless given")
{
    const std::vector<std::string> words{"--model", "emulated", "--out", "run"};
    const auto rate = [&](std::vector<std::string> more) {
        more.insert(more.end(), words.begin(), words.end());
        return parsed(more)->optimizer.learning_rate;
    };
    CHECK(rate({}) == 0.01);
    CHECK(rate({"--optimizer", "adamw"}) == 0.001);
    CHECK(rate({"--optimizer", "adamw", "--lr", "0.5"}) == 0.5);
}

TEST_CASE("an option on the card of a hook is an option of the training and a member of its record")
{
    const std::vector<base::OptionCard> of_hooks{{"say-when", "no", "says when"}, {"say-how", "loud", "says how"}};
    const std::optional<ddl::TrainingPlan> plan =
        parsed({"--transport", "self", "--out", "there", "--say-when", "yes"}, {}, of_hooks);
    REQUIRE(plan);
    CHECK(plan->hook_options == std::map<std::string, std::string>{{"say-how", "loud"}, {"say-when", "yes"}});
    CHECK(ddl::to_json(*plan)["hooks"]["say-when"] == "yes");
}
