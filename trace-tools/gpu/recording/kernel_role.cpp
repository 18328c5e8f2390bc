// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/gpu/recording/kernel_role.hpp"

namespace gpu {

otf2::RegionRole kernel_role(const std::string& name)
{
    using otf2::RegionRole;
    const auto has = [&](const char* word) { return name.find(word) != std::string::npos; };
    if (!name.starts_with("nccl")) return RegionRole::function;
    if (has("SendRecv")) return RegionRole::point_to_point;
    if (has("Broadcast")) return RegionRole::one_to_all;
    if (has("AllReduce") || has("AllGather") || has("ReduceScatter")) return RegionRole::all_to_all;
    return has("Reduce") ? RegionRole::all_to_one : RegionRole::collective_other;
}

}  // namespace gpu
