// SPDX-License-Identifier: Apache-2.0
// Steps of a GPU and of the rank that uses it: computing, exchanging, copying, how far these overlap, and why
// it did not compute.
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

// Steps on the archive's common clock, by rank; without any the whole run is one. Events come in the order of time.
// Memory grows with what happens in a step, not with the steps.
class GpuSteps : public otf2::Visitor {
 public:
    using Sink = std::function<void(const GpuStep&)>;

    // Called for each device and step when it is over: those of a device in their order.
    GpuSteps(const otf2::Archive& archive, const Accelerators& accelerators, std::vector<otf2::StepsOfRank> steps,
             Sink sink);
    ~GpuSteps() override;

    // After the last event.
    void finish();
    std::uint64_t early_kernels() const;  // before the call that launches them

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
