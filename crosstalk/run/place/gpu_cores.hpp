// SPDX-License-Identifier: Apache-2.0
// Cores near GPUs: on each node one rank for each GPU, bound to cores near that GPU.
#pragma once

#include "base/system/cpus.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace crosstalk {

// The CPUs near each GPU that this process may use, in the GPUs' order on the PCI bus (CUDA_DEVICE_ORDER=PCI_BUS_ID).
// `listing`: output of nvidia-smi --query-gpu=index,uuid,pci.bus_id --format=csv,noheader; `visible`:
// CUDA_VISIBLE_DEVICES; `sys`: root of the kernel's local_cpulist files (the source of hwloc and NVML, too). For a GPU
// without such a file it returns all `allowed`.
std::vector<base::CpuSet> near_gpus(const std::string& listing, const std::optional<std::string>& visible,
                                    const std::filesystem::path& sys, const base::CpuSet& allowed);

// near_gpus() of this node; empty without nvidia-smi.
std::vector<base::CpuSet> near_gpus();

// Like split_cores(), with separate cores for each rank; `near`: the CPUs near each rank's GPU. If neither set is
// given, the ranks get every other core near their GPU.
struct SplitNear {
    std::vector<base::CpuSet> each_rank;
    base::CpuSet noise;
};
// Throws UsageError if a rank gets no core.
SplitNear split_near(const std::vector<base::Core>& cores, const base::CpuSet& job, const base::CpuSet& noise,
                     const std::vector<base::CpuSet>& near);

}  // namespace crosstalk
