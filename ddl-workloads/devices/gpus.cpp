// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/devices/gpus.hpp"

#include "base/error.hpp"
#include "base/gpu/cuda_driver.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <map>

namespace ddl {

namespace {

std::int64_t memory_of_gpu(int number)
{
    const base::cuda::Driver& driver = base::cuda::driver();
    base::cuda::Device device = 0;
    std::size_t bytes = 0;
    base::cuda::check(driver.device(&device, number), "find the GPU");
    base::cuda::check(driver.device_memory(&bytes, device), "query the GPU's memory");
    return static_cast<std::int64_t>(bytes);
}

}  // namespace

int gpu_of_rank(const DevicePlan& plan, const base::LocalRank& local)
try {
    base::cuda::driver();
    const int count = base::cuda::devices();
    if (count == 0) base::unavailable("no GPU");
    const int number = plan.number.value_or(local.rank % count);
    if (number >= count)
        base::fail_usage("--device ", text(plan), ": there is no GPU ", number, "; this process has ", count,
                         ", counted from 0 (CUDA_VISIBLE_DEVICES)");
    return number;
} catch (const base::Unavailable& why) {
    base::unavailable("--device ", text(plan), ": ", why.what());
}

nlohmann::ordered_json gpu_record(std::optional<int> number)
{
    if (!number) return nullptr;
    return {{"number", *number},
            {"name", base::cuda::device_name(*number)},
            {"pci_id", base::cuda::pci_id(*number)},
            {"memory_bytes", memory_of_gpu(*number)}};
}

std::vector<std::string> shared_gpus(const std::vector<std::string>& gpu_of_ranks)
{
    std::map<std::string, std::vector<std::string>> ranks_of;
    for (std::size_t rank = 0; rank < gpu_of_ranks.size(); ++rank)
        if (!gpu_of_ranks[rank].empty()) ranks_of[gpu_of_ranks[rank]].push_back(std::to_string(rank));
    std::vector<std::string> lines;
    for (const auto& [gpu, ranks] : ranks_of)
        if (ranks.size() > 1) lines.push_back(base::join("ranks ", base::join_words(ranks, ", "), " share ", gpu));
    return lines;
}

}  // namespace ddl
