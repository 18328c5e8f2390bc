// SPDX-License-Identifier: Apache-2.0
// Where the models of LibTorch compute, in what numbers, and how work is handed in: --device, --precision,
// --deterministic, --sync-phases, --cuda-graphs.
#pragma once

#include "base/cli/capabilities.hpp"
#include "base/cli/options.hpp"

#include <optional>
#include <string>

namespace ddl {

enum class DeviceKind {
    cpu,
    staged,  // the CPU, with all the copies that a GPU needs: for tests of them, and for what they cost
    cuda
};

enum class Compute {
    fp32,
    tf32,  // products of matrices and convolutions of a GPU, of 10 bits and a sign
    bf16   // autocast, with parameters and gradients in fp32
};

struct DevicePlan {
    DeviceKind kind = DeviceKind::cpu;
    std::optional<int> number;  // of cuda; none: the rank's place on its node chooses
    Compute compute = Compute::fp32;
    bool sync_phases = false;    // a phase lasts until the device has done its work, not until that is queued
    bool deterministic = false;  // a GPU computes the same bits each time
    bool graphs = false;         // forward and backward are each handed in as a whole, with one call
};

inline constexpr base::Capability gpu{"--device cuda"};

// "cpu", "staged", "cuda" or "cuda:1". Throws UsageError.
DevicePlan parse_device(const std::string& text);

// Here, since the library with the models has it too.
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

class DeviceOptions {
 public:
    // Adds them; both must outlive it.
    DeviceOptions(base::Options& options, DevicePlan& plan);

    // Completes the plan once the options were parsed. Throws UsageError.
    void read() const;

 private:
    DevicePlan& plan_;
    std::string device_ = "cpu";
    std::string precision_ = "fp32";
    bool sync_phases_ = false;
    bool deterministic_ = false;
    bool graphs_ = false;
};

}  // namespace ddl
