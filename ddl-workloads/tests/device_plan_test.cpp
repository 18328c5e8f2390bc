// SPDX-License-Identifier: Apache-2.0
// --device: parsing, choice of the GPU, and errors on machines without GPUs. Tests on a real GPU are in tests/gpu.
#include "ddl-workloads/devices/device_plan.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "ddl-workloads/devices/gpus.hpp"
#include "testing/cuda_stub.hpp"
#include "testing/environment.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace {

testing::Outcome train_on(const testing::Scratch& scratch, const std::string& model, const std::string& device,
                          const std::vector<std::string>& more = {})
{
    std::vector<std::string> words{CROSSTALK_BIN "/ddl-train",
                                   "--model",
                                   model,
                                   "--device",
                                   device,
                                   "--data",
                                   "synthetic[samples=80]",
                                   "--steps",
                                   "3",
                                   "--trace",
                                   "off",
                                   "--transport",
                                   "self",
                                   "--out",
                                   scratch / "run"};
    words.insert(words.end(), more.begin(), more.end());
    return testing::run(words);
}

}  // namespace

TEST_CASE("a device is named by its kind and for a GPU by its number")
{
    CHECK(ddl::parse_device("cpu").kind == ddl::DeviceKind::cpu);
    CHECK(ddl::parse_device("staged").kind == ddl::DeviceKind::staged);
    CHECK(ddl::parse_device("cuda").kind == ddl::DeviceKind::cuda);
    CHECK_FALSE(ddl::parse_device("cuda").number);
    CHECK(ddl::parse_device("cuda:3").number == 3);
    for (const std::string text : {"cpu", "staged", "cuda", "cuda:3"})
        CHECK(ddl::text(ddl::parse_device(text)) == text);
    for (const char* wrong : {"", "gpu", "cuda:", "cuda:-1", "cuda:x", "cuda:12345", "cpu:0", "cudas"}) {
        CAPTURE(wrong);
        CHECK_THROWS_AS(ddl::parse_device(wrong), base::UsageError);
    }
}

TEST_CASE("ranks on the same GPU are named and others are not")
{
    CHECK(ddl::shared_gpus({}).empty());
    CHECK(ddl::shared_gpus({"", ""}).empty());
    CHECK(ddl::shared_gpus({"GPU a", "GPU b", "GPU c"}).empty());
    CHECK(ddl::shared_gpus({"GPU a", "GPU b", "GPU a", "", "GPU b", "GPU c"}) ==
          std::vector<std::string>{"ranks 0, 2 share GPU a", "ranks 1, 4 share GPU b"});
}

TEST_CASE("a training on a GPU that is not there ends in one line and leaves nothing")
{
    const testing::Scratch scratch;
    const auto check = [&](const std::string& model, const std::string& device, const char* devices, int status,
                           const std::string& words) {
        const testing::Environment stub{testing::with_cuda_stub({{"CUDA_STUB_DEVICES", devices}})};
        const testing::Outcome outcome = train_on(scratch, model, device);
        CAPTURE(device);
        CAPTURE(outcome.err);
        CHECK(outcome.status == status);
        CHECK(outcome.err.starts_with("ddl-train: --device " + device + words));
        CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
        CHECK_FALSE(std::filesystem::exists(scratch / "run" / "train"));
    };
#ifdef CROSSTALK_DDL_TORCH
    check("mlp", "cuda", "0", 77, ": there is no GPU: CUDA_ERROR_NO_DEVICE");
    check("mlp", "cuda:9", "2", 2, ": there is no GPU 9; this process has 2, counted from 0");
#endif
    check("emulated", "cuda", "1", 2, " needs a model that computes where --device says");
    check("emulated", "staged", "0", 2, " needs a model that computes where --device says");
}

TEST_CASE("the record of a training names the GPU that its rank computes on")
{
    const testing::Scratch scratch;
    const testing::Environment stub{
        testing::with_cuda_stub({{"CUDA_STUB_DEVICES", "2"}, {"LOCAL_RANK", "1"}, {"LOCAL_WORLD_SIZE", "2"}})};
    const testing::Outcome outcome = train_on(scratch, "emulated[device=cuda,compute=1ms,gradients=64B]", "cpu");
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    const auto record = nlohmann::json::parse(base::read_whole(scratch / "run/train/run.json"));
    const nlohmann::json& gpu = record["training"]["gpu"];
    CHECK(gpu["number"] == 1);
    CHECK(gpu["pci_id"] == "0000:02:00.0");
    CHECK(gpu["memory_bytes"] == 1 << 30);
    CHECK(record["result"]["each_rank"][0]["gpu"] == gpu);
}

#ifdef CROSSTALK_DDL_TORCH
// The stub driver is present, but LibTorch was built without CUDA, or detects that the driver is a stub.
TEST_CASE("a LibTorch that cannot compute on the GPU says so in one line")
{
    const testing::Scratch scratch;
    const testing::Environment stub{testing::with_cuda_stub()};
    const testing::Outcome outcome = train_on(scratch, "mlp[hidden=8]", "cuda");
    INFO(outcome.err);
    CHECK(outcome.status == 77);
    CHECK(outcome.err.starts_with("ddl-train: --device cuda:0: "));
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    CHECK_FALSE(std::filesystem::exists(scratch / "run" / "train"));
}
#endif
