// SPDX-License-Identifier: Apache-2.0
// Where and how LibTorch models compute: --device, --precision, --deterministic, --sync-phases, --cuda-graphs.
#pragma once

#include "base/cli/capabilities.hpp"
#include "base/cli/options.hpp"

#include <optional>
#include <string>

namespace ddl {

enum class DeviceKind {
    cpu,
    staged,  // the CPU, with all copies that a GPU needs: to test them and to measure their cost
    cuda
};

enum class Compute {
    fp32,
    tf32,  // on a GPU: matrix products and convolutions with 10-bit mantissas
    bf16   // autocast to bfloat16; parameters and gradients stay in fp32
};

struct DevicePlan {
    DeviceKind kind = DeviceKind::cpu;
    std::optional<int> number;  // for cuda; none: chosen by the rank's place on its node
    Compute compute = Compute::fp32;
    bool sync_phases = false;    // a phase lasts until the device has done its work, not only until the work is queued
    bool deterministic = false;  // a GPU computes the same bits in every run
    bool graphs = false;         // forward and backward are each launched by one call
};

inline constexpr base::Capability gpu{"--device cuda"};

// "cpu", "staged", "cuda" or "cuda:1". Throws UsageError.
DevicePlan parse_device(const std::string& text);

// Inline, since the library with the models uses it too.
inline std::string text(const DevicePlan& plan)
{
    if (plan.kind == DeviceKind::cpu) return "cpu";
    if (plan.kind == DeviceKind::staged) return "staged";
    return plan.number ? "cuda:" + std::to_string(*plan.number) : "cuda";
}

inline std::string text(Compute compute)
{
    if (compute == Compute::tf32) return "tf32";
    return compute == Compute::bf16 ? "bf16" : "fp32";
}

// Adds the options; options.check() completes the plan. Throws UsageError.
void add_device_options(base::Options& options, DevicePlan& plan);

}  // namespace ddl
