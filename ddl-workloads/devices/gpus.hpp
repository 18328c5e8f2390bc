// SPDX-License-Identifier: Apache-2.0
// The GPUs of a training's ranks, as reported by NVIDIA's driver.
#pragma once

#include "base/system/local_rank.hpp"
#include "ddl-workloads/devices/device_plan.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

namespace ddl {

// Number of this rank's GPU among those of CUDA_VISIBLE_DEVICES: the requested one, or the local rank modulo the number
// of GPUs. Throws Unavailable without a GPU, UsageError if the requested one does not exist.
int gpu_of_rank(const DevicePlan& plan, const base::LocalRank& local);

// For the run record: `number`, `name`, `pci_id` and `memory_bytes` of the GPU; null for none.
nlohmann::ordered_json gpu_record(std::optional<int> number);

// Warnings such as "ranks 0, 2 share the GPU 0000:17:00.0 of node1", one for each GPU that several ranks use. The
// argument holds one text for each rank that identifies its GPU; empty if the rank has none.
std::vector<std::string> shared_gpus(const std::vector<std::string>& gpu_of_ranks);

}  // namespace ddl
