// SPDX-License-Identifier: Apache-2.0
// CPUs near a device on the PCI bus, a GPU for example.
#pragma once

#include "base/system/cpus.hpp"

#include <filesystem>
#include <string>

namespace noisegen {

// "0000:17:00.0" of the ways in which tools write it: 00000000:17:00.0, 0000:17:00.0, 17:00.0, in capitals too. Throws
// UsageError for other text.
std::string parse_pci_id(const std::string& text);

// The CPUs of the NUMA node that the device's PCIe root is part of, as the kernel says it (local_cpulist); hwloc and
// NVML have it from there. The device is gpu:0, as CUDA counts the GPUs of this process, or pci:0000:17:00.0. `root`
// stands for / in tests. Throws Unavailable where there is no GPU, UsageError, which begins with the option, where
// there is no such device or the kernel does not say.
base::CpuSet cpus_near(const std::string& option, const std::string& device, const std::filesystem::path& root = "/");

}  // namespace noisegen
