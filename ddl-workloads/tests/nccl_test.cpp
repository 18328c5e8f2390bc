// SPDX-License-Identifier: Apache-2.0
// The NCCL transport, with stubs for NCCL and the CUDA driver.
#include "base/files.hpp"
#include "base/system/environment.hpp"
#include "base/system/launcher.hpp"
#include "base/system/stop.hpp"
#include "ddl-workloads/transports/exchange_thread.hpp"
#include "testing/cuda_stub.hpp"
#include "testing/environment.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

#include <unistd.h>

namespace {

constexpr const char* test_name = "NCCL averages in the memory of GPUs and a rank that is gone ends it";

// Numbers in GPU 0's memory.
class OnGpu {
 public:
    explicit OnGpu(const std::vector<float>& numbers) : bytes_{numbers.size() * sizeof(float)}
    {
        base::cuda::Context context = nullptr;
        base::cuda::check(driver_.retain_context(&context, 0), "use the GPU");
        base::cuda::check(driver_.use_context(context), "use the GPU");
        base::cuda::check(driver_.allocate(&address_, bytes_), "take memory");
        base::cuda::check(driver_.copy_to_device(address_, numbers.data(), bytes_, nullptr), "copy");
        base::cuda::check(driver_.synchronize(), "copy");
    }
    ddl::GpuNumbers numbers() const
    {
        return {.address = address_, .count = bytes_ / sizeof(float), .stream = nullptr};
    }
    std::vector<float> values() const
    {
        std::vector<float> all(bytes_ / sizeof(float));
        base::cuda::check(driver_.copy_to_host(all.data(), address_, bytes_, nullptr), "copy");
        base::cuda::check(driver_.synchronize(), "copy");
        return all;
    }

 private:
    const base::cuda::Driver& driver_ = base::cuda::driver();
    std::size_t bytes_;
    base::cuda::Address address_ = 0;
};

std::string failure_of(std::future<void> work)
{
    try {
        work.get();
    } catch (const std::exception& error) {
        return error.what();
    }
    return "none";
}

// Runs one of two ranks, which writes its results to a file in the directory.
void be_a_rank(const std::filesystem::path& directory)
{
    base::stop_on_signals();  // as ddl-train: no SIGPIPE ends a rank whose peer is gone
    const int rank = base::job_rank().rank;
    const ddl::TransportPlan plan{.progress = {}, .run = directory};
    ddl::ExchangeThread exchanges{ddl::connector("nccl", plan)};
    nlohmann::ordered_json seen;
    seen["connected"] = exchanges.connect_gpus(0);
    seen["transport"] = exchanges.description();
    const OnGpu gradients{rank == 0 ? std::vector<float>{1.0F, -2.0F, 0.5F} : std::vector<float>{3.0F, 4.0F, 0.25F}};
    seen["failure"] = failure_of(exchanges.average_on_gpu(gradients.numbers(), {}));
    seen["means"] = gradients.values();
    exchanges.barrier().get();
    if (rank == 0) {
        seen["barrier"] = failure_of(exchanges.barrier());
        seen["afterwards"] = failure_of(exchanges.average_on_gpu(gradients.numbers(), {}));
    }
    base::write_whole(directory / std::to_string(rank), seen.dump());
    if (rank == 1) ::_exit(0);
}

}  // namespace

TEST_CASE("NCCL averages in the memory of GPUs and a rank that is gone ends it")
{
    if (const auto directory = base::environment("CROSSTALK_TEST_RANK_DIRECTORY")) return be_a_rank(*directory);
#ifndef CROSSTALK_HAS_GLOO
    return testing::skip("built without Gloo");
#endif
    const testing::Scratch scratch;
    const std::filesystem::path folder = testing::cuda_stub_folder.lexically_normal();
    const testing::Environment variables{
        {{"LD_LIBRARY_PATH", folder.string() + ":" + (folder.parent_path() / "nccl_stub").string()},
         {"CROSSTALK_TEST_RANK_DIRECTORY", scratch.path().string()},
         {"WORLD_SIZE", "2"},
         {"LOCAL_WORLD_SIZE", "2"}}};
    const testing::Outcome outcome = testing::run(
        {"bash", "-c",
         "RANK=1 LOCAL_RANK=1 \"$0\" \"$1\" & RANK=0 LOCAL_RANK=0 \"$0\" \"$1\"; status=$?; wait; exit $status",
         std::filesystem::read_symlink("/proc/self/exe"), std::string{"--test-case="} + test_name});
    INFO(outcome.out);
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    for (const char* rank : {"0", "1"}) {
        CAPTURE(rank);
        const auto seen = nlohmann::json::parse(base::read_whole(scratch / rank));
        CHECK(seen["connected"] == true);
        CHECK(seen["transport"]["library"] == "NCCL 2.28.9");
        CHECK(seen["transport"]["host"]["name"] == "gloo");
        CHECK(seen["failure"] == "none");
        CHECK(seen["means"] == nlohmann::json({2.0, 1.0, 0.375}));
    }
    const auto left = nlohmann::json::parse(base::read_whole(scratch / "0"));
    CHECK(left["barrier"].get<std::string>().find("cannot wait for the other ranks over gloo") != std::string::npos);
    CHECK(left["afterwards"] == "the ranks' GPUs are no longer connected");
}

TEST_CASE("transports without GPUs connect none")
{
    ddl::ExchangeThread exchanges{ddl::connector("self", {})};
    CHECK_FALSE(exchanges.connect_gpus(0));
}
