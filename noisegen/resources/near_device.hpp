// SPDX-License-Identifier: Apache-2.0
// CPUs near a PCI device, such as a GPU.
#pragma once

#include "base/system/cpus.hpp"

#include <filesystem>
#include <string>

namespace noisegen {

// Returns "0000:17:00.0" for the notations of other tools: 00000000:17:00.0, 0000:17:00.0, 17:00.0, also in capitals.
// Throws UsageError for other text.
std::string parse_pci_id(const std::string& text);

// The CPUs of the NUMA node to which the device's PCIe root belongs, from the kernel's local_cpulist (the source of
// hwloc and NVML, too). The device is gpu:0, by CUDA's numbering of this process's GPUs, or pci:0000:17:00.0. `root`
// replaces / in tests. Throws Unavailable without a GPU, and UsageError, which begins with the option, if there is no
// such device or the kernel does not report its CPUs.
base::CpuSet cpus_near(const std::string& option, const std::string& device, const std::filesystem::path& root = "/");

}  // namespace noisegen
