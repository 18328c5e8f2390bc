// SPDX-License-Identifier: Apache-2.0
// The GPUs on which the ranks of a training compute, as NVIDIA's driver knows them.
#pragma once

#include "base/system/local_rank.hpp"
#include "ddl-workloads/devices/device_plan.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

namespace ddl {

// The number of this rank's GPU, among those of CUDA_VISIBLE_DEVICES: the one asked for, or the local rank's, counted
// round where there are fewer than ranks. Throws Unavailable without a GPU, UsageError for one that is not there.
int gpu_of_rank(const DevicePlan& plan, const base::LocalRank& local);

// For the run record: `number`, `name`, `pci_id` and `memory_bytes` of that GPU; null for none.
nlohmann::ordered_json gpu_record(std::optional<int> number);

// "ranks 0, 2 share the GPU 0000:17:00.0 of node1" for each one that several use. One text a rank, of the same GPU
// the same; empty: the rank has none.
std::vector<std::string> shared_gpus(const std::vector<std::string>& gpu_of_ranks);

}  // namespace ddl
