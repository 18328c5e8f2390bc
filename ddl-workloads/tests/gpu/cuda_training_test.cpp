// SPDX-License-Identifier: Apache-2.0
// LibTorch models on a GPU: they learn as on the CPU, with every strategy, and their run records name the GPU.
#include "base/csv.hpp"
#include "base/files.hpp"
#include "testing/testing.hpp"
#include "testing/train_runs.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace {

using testing::operator+;
using testing::Words;

// Trains in separate processes, or skips the test with the reason why that is not possible here.
class OnGpu {
 public:
    std::optional<nlohmann::json> train(Words words, const std::string& device, int ranks = 1)
    {
        const testing::Outcome outcome = attempt(std::move(words), device, ranks);
        INFO(outcome.err);
        if (outcome.status == 77 || outcome.err.find("no transport 'gloo'") != std::string::npos ||
            outcome.err.find("no model") != std::string::npos) {
            CHECK(outcome.err.starts_with("ddl-train: "));
            testing::skip(outcome.err.substr(0, outcome.err.find('\n')));
            return std::nullopt;
        }
        REQUIRE(outcome.status == 0);
        return nlohmann::json::parse(outcome.out.substr(outcome.out.find('{')));
    }

    testing::Outcome attempt(Words words, const std::string& device, int ranks = 1)
    {
        last_ = scratch_ / std::to_string(number_++);
        words.insert(words.begin(),
                     {CROSSTALK_BIN "/ddl-train", "--json", "--out", last_.string(), "--device", device});
        if (std::find(words.begin(), words.end(), "--transport") == words.end())
            words.insert(words.end(), {"--transport", ranks == 1 ? "self" : "gloo"});
        testing::Outcome outcome = testing::run(ranks == 1 ? words : as_torchrun_does(ranks, words));
        err_ = outcome.err;
        return outcome;
    }

    nlohmann::json record() const { return nlohmann::json::parse(base::read_whole(last_ / "train/run.json")); }
    const std::filesystem::path& last() const { return last_; }
    const std::string& err() const { return err_; }

    // Mean over the second half of the steps.
    double mean_ms(const char* column) const
    {
        const base::CsvTable rows{last_ / "train/steps.csv"};
        double sum = 0.0;
        for (std::size_t row = rows.rows() / 2; row < rows.rows(); ++row)
            sum += static_cast<double>(rows.get<std::int64_t>(row, column)) / 1e6;
        return sum / static_cast<double>(rows.rows() - rows.rows() / 2);
    }

 private:
    // Starts the other ranks as torchrun does. The first rank prints the result.
    static Words as_torchrun_does(int ranks, const Words& words)
    {
        const std::string count = std::to_string(ranks);
        const std::string script = "export WORLD_SIZE=" + count + " LOCAL_WORLD_SIZE=" + count +
                                   "; for rank in $(seq " + std::to_string(ranks - 1) +
                                   "); do RANK=$rank LOCAL_RANK=$rank \"$@\" >&2 & done; "
                                   "RANK=0 LOCAL_RANK=0 \"$@\"; status=$?; wait; exit $status";
        Words all{"bash", "-c", script, "ranks"};
        all.insert(all.end(), words.begin(), words.end());
        return all;
    }

    testing::Scratch scratch_;
    std::filesystem::path last_;
    std::string err_;
    int number_ = 0;
};

// Rounding differences grow in each step, the faster the larger the learning rate. On the CPU, the losses of ResNet-18
// with two builds of LibTorch differ after twenty steps by 9 % (learning rate 0.01), 0.2 % (0.001), or less than 0.01 %
// (0.0001).
const Words twenty{"--data", "synthetic[samples=800]", "--steps", "20", "--trace", "off", "--seed", "3", "--lr",
                   "0.0001"};

Words of(const std::string& model, const Words& more = {})
{
    return twenty + Words{"--model", model} + more;
}

}  // namespace

TEST_CASE("models lose on a GPU what they lose on the CPU")
{
    OnGpu trainings;
    const std::string text = "text[path=" + std::string{__FILE__} + ",length=32]";
    for (const std::string model : {"mlp", "resnet18[width=16]", "gpt[layers=2,width=32]"}) {
        CAPTURE(model);
        Words words = of(model);
        if (model.starts_with("gpt")) words[1] = text;
        const auto gpu = trainings.train(words, "cuda");
        if (!gpu) return;
        const auto cpu = trainings.train(words, "cpu");
        CHECK(gpu->at("loss").get<double>() == doctest::Approx(cpu->at("loss").get<double>()).epsilon(1e-3));
        CHECK(gpu->at("accuracy").get<double>() == doctest::Approx(cpu->at("accuracy").get<double>()).epsilon(0.05));
    }
}

TEST_CASE("a model with tables in the host's memory loses on a GPU what it loses on the CPU")
{
    OnGpu trainings;
    Words dlrm = of("dlrm", {"--strategy", "ddp"});
    dlrm[1] = "clicks[samples=800]";
    const auto gpu = trainings.train(dlrm, "cuda");
    if (!gpu) return;
    const auto cpu = trainings.train(dlrm, "cpu");
    CHECK(gpu->at("loss").get<double>() == doctest::Approx(cpu->at("loss").get<double>()).epsilon(1e-3));
}

TEST_CASE("every strategy loses the same on a GPU, and nothing is left of it in the host's memory alone")
{
    OnGpu trainings;
    std::optional<std::string> first;
    for (const std::string strategy : {"none", "naive", "ddp", "ddp[first=64KiB,cap=256KiB]", "ddp[view=no]",
                                       "ddp[static_graph=yes]", "cycle", "zero1", "zero1[view=no]"}) {
        CAPTURE(strategy);
        const auto result = trainings.train(
            of("resnet18[width=16]", {"--strategy", strategy, "--accumulate", "2", "--deterministic"}), "cuda");
        if (!result) return;
        const auto checksum = result->at("checksum").get<std::string>();
        if (!first) first = checksum;
        CHECK(checksum == *first);
    }
}

TEST_CASE("NCCL averages where the gradients are, and graphs compute what they recorded, to the bit")
{
    OnGpu trainings;
    const auto checksum = [&](const Words& more) -> std::string {
        const auto result = trainings.train(of("resnet18[width=16]", more + Words{"--deterministic"}), "cuda");
        return result ? result->at("checksum").get<std::string>() : "";
    };
    const std::string plain = checksum({"--strategy", "none"});
    if (plain.empty()) return;
    CHECK(checksum({"--strategy", "none", "--cuda-graphs"}) == plain);
    CHECK(checksum({"--strategy", "naive", "--cuda-graphs"}) == plain);
    CHECK(checksum({"--strategy", "ddp", "--transport", "nccl"}) == plain);
    CHECK(trainings.record()["transport"]["library"].get<std::string>().starts_with("NCCL 2."));
}

TEST_CASE("NCCL joins no ranks that share a GPU, and says so")
{
    OnGpu trainings;
    const Words words = of("mlp", {"--strategy", "ddp", "--transport", "nccl"});
    if (!trainings.train(of("mlp"), "cuda:0")) return;
    const testing::Outcome outcome = trainings.attempt(words, "cuda:0", 2);
    CHECK(outcome.status == 1);
    CHECK(outcome.err.find("NCCL cannot connect the ranks' GPUs: ") != std::string::npos);
    CHECK(outcome.err.find("Duplicate GPU detected") != std::string::npos);
}

TEST_CASE("what a GPU did is in the trace, with the numbers of operators and buckets")
{
    OnGpu trainings;
    Words words = of("resnet18[width=16]", {"--strategy", "ddp", "--instrument", "L2", "--trace-gpu"});
    words[std::find(words.begin(), words.end(), "off") - words.begin()] = "on";
    if (!trainings.train(words, "cuda")) return;
    CHECK(trainings.err().find("GPU activities") == std::string::npos);
    const std::string archive = trainings.last() / "train/trace/traces.otf2";
    const testing::Outcome info = testing::run({CROSSTALK_BIN "/trace-info", "--json", archive});
    REQUIRE(info.status == 0);
    const nlohmann::json gpus = nlohmann::json::parse(info.out).at("gpus");
    REQUIRE(gpus.size() == 1);
    CHECK(gpus[0].at("kernels").get<int>() > 20 * 100);
    CHECK(gpus[0].at("launched") == gpus[0].at("kernels"));
    CHECK(testing::run({CROSSTALK_BIN "/trace-info", "--check", archive}).out == "sound\n");
}

TEST_CASE("the record says which GPU it was, as nvidia-smi names it")
{
    OnGpu trainings;
    if (!trainings.train(of("mlp"), "cuda:0")) return;
    const nlohmann::json record = trainings.record();
    const nlohmann::json& gpu = record["training"]["gpu"];
    CHECK(gpu["number"] == 0);
    CHECK(std::filesystem::exists("/sys/bus/pci/devices/" + gpu["pci_id"].get<std::string>()));
    CHECK(gpu["memory_bytes"].get<std::int64_t>() > std::int64_t{1} << 30);
    const nlohmann::json& computing = record["result"]["each_rank"][0]["computing"];
    CHECK(computing["device"] == "cuda:0");
    if (computing.contains("peak_device_memory_bytes"))
        CHECK(computing["peak_device_memory_bytes"].get<std::int64_t>() > 1'000'000);
}

TEST_CASE("a training on a GPU resumes where it was, to the bit")
{
    OnGpu trainings;
    const auto whole = trainings.train(of("resnet18[width=16]", {"--deterministic"}), "cuda");
    if (!whole) return;
    Words part = of("resnet18[width=16]", {"--checkpoint-every", "12", "--deterministic"});
    part[3] = "12";
    trainings.train(part, "cuda");
    const Words rest = of("resnet18[width=16]", {"--resume", trainings.last().string(), "--deterministic"});
    const auto resumed = trainings.train(rest, "cuda");
    REQUIRE(resumed);
    CHECK(resumed->at("checksum") == whole->at("checksum"));
}

TEST_CASE("two ranks on the same GPU end with the same parameters and are said to share it")
{
    for (const std::string strategy : {"ddp", "cycle", "zero1", "naive"}) {
        CAPTURE(strategy);
        OnGpu trainings;
        const auto result = trainings.train(of("resnet18[width=16]", {"--strategy", strategy}), "cuda:0", 2);
        if (!result) return;
        CHECK(result->at("ranks_agree") == true);
        CHECK(trainings.err().find("ranks 0, 1 share the GPU ") != std::string::npos);
    }
}

TEST_CASE("what the host waits for a GPU is part of its steps")
{
    OnGpu trainings;
    if (!trainings.train(of("resnet50", {"--batch", "64"}), "cuda")) return;
    const base::CsvTable rows{trainings.last() / "train/steps.csv"};
    const auto at = [&](std::size_t row, const char* column) { return rows.get<std::int64_t>(row, column); };
    std::int64_t between_ns = 0;
    for (std::size_t row = 1; row < rows.rows(); ++row) between_ns += at(row, "begin_ns") - at(row - 1, "end_ns");
    CHECK(between_ns * 10 < at(rows.rows() - 1, "end_ns") - at(0, "begin_ns"));
}

TEST_CASE("phases hold the GPU's time if they are asked to")
{
    OnGpu trainings;
    const Words large = of("resnet50", {"--batch", "64", "--sync-phases"});
    if (!trainings.train(large, "cuda")) return;
    CHECK(trainings.mean_ms("backward_ns") > trainings.mean_ms("forward_ns"));
    CHECK(trainings.mean_ms("wait_exchange_ns") < trainings.mean_ms("backward_ns"));
}

TEST_CASE("16 bits lose about what 32 bits lose on a GPU")
{
    OnGpu trainings;
    const auto half = trainings.train(of("resnet18[width=16]", {"--precision", "bf16"}), "cuda");
    if (!half) return;
    const auto full = trainings.train(of("resnet18[width=16]"), "cuda");
    CHECK(half->at("loss").get<double>() == doctest::Approx(full->at("loss").get<double>()).epsilon(0.1));
}
