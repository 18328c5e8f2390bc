// SPDX-License-Identifier: Apache-2.0
// Cores near GPUs: a rank of a node for each GPU, bound to cores that are near it.
#pragma once

#include "base/system/cpus.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace crosstalk {

// The CPUs near each GPU that this process may use, in the order of the GPUs' places on the PCI bus
// (CUDA_DEVICE_ORDER=PCI_BUS_ID). `listing`: of nvidia-smi --query-gpu=index,uuid,pci.bus_id --format=csv,noheader;
// `visible`: CUDA_VISIBLE_DEVICES; `sys`: where the kernel says what is near (local_cpulist, from which hwloc and NVML
// have it). Of a GPU of which nothing is known all `allowed` are near.
std::vector<base::CpuSet> near_gpus(const std::string& listing, const std::optional<std::string>& visible,
                                    const std::filesystem::path& sys, const base::CpuSet& allowed);

// The same of this node; empty without nvidia-smi.
std::vector<base::CpuSet> near_gpus();

// Like split_cores(), with cores of its own for each rank; `near`: the CPUs near the GPU of each. With neither set
// given ranks get every other core near their GPU.
struct SplitNear {
    std::vector<base::CpuSet> each_rank;
    base::CpuSet noise;
};
// Throws UsageError where a rank gets none.
SplitNear split_near(const std::vector<base::Core>& cores, const base::CpuSet& job, const base::CpuSet& noise,
                     const std::vector<base::CpuSet>& near);

}  // namespace crosstalk
