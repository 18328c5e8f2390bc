// SPDX-License-Identifier: Apache-2.0
// Steps of a GPU and of the rank that uses it: times of computing, exchanging and copying, their overlap, and the
// causes of idle time.
#pragma once

#include "trace-tools/gpu/analysis/accelerators.hpp"
#include "trace-tools/gpu/analysis/gpu_step.hpp"
#include "trace-tools/otf2/read/reader.hpp"
#include "trace-tools/steps/step_collection.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace gpu {

// `steps` are on the archive's common clock, by rank; without any, the whole run is one step. Events must come in time
// order. Memory grows with the events of a step, not with the number of steps.
class GpuSteps : public otf2::Visitor {
 public:
    using Sink = std::function<void(const GpuStep&)>;

    // `sink` is called for each device and step when the step is over, in order for each device.
    GpuSteps(const otf2::Archive& archive, const Accelerators& accelerators, std::vector<otf2::StepsOfRank> steps,
             Sink sink);
    ~GpuSteps() override;

    // Call after the last event.
    void finish();
    std::uint64_t early_kernels() const;  // kernels that begin before their launching call

    void enter(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes& attributes) override;
    void leave(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes& attributes) override;
    void transfer_begin(const otf2::At& at) override;
    void transfer_end(const otf2::At& at) override;
    void other(const otf2::At& at) override;

 private:
    struct Engine;
    std::unique_ptr<Engine> engine_;
};

}  // namespace gpu
