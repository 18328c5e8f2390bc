// SPDX-License-Identifier: Apache-2.0
// Copies inside a GPU's memory: contend for its bandwidth.
#include "base/error.hpp"
#include "noisegen/stressors/gpu/gpu_options.hpp"
#include "noisegen/stressors/gpu/gpu_work.hpp"
#include "noisegen/stressors/step_size.hpp"

#include <algorithm>

namespace noisegen {

namespace {

constexpr std::size_t most_bytes_a_piece = std::size_t{512} << 20U;  // traffic of some tenths of a millisecond
constexpr std::size_t least_bytes_a_piece = std::size_t{64} << 10U;

const std::string gpu_memory_name = "gpu.memory";

class GpuMemoryTraffic final : public Stressor {
 public:
    GpuMemoryTraffic(std::size_t bytes, int number)
        : context_{number}, half_{bytes / 2}, memory_{2 * half_}, left_{context_.memory()}
    {
    }

    void begin(const Turn& turn) override
    {
        context_.use();
        bytes_a_piece_ = step_size(turn.bytes_per_s, least_bytes_a_piece, most_bytes_a_piece) / 2;
    }

    // Copies from one half to the other. Each byte is read and written, so it counts as two bytes of traffic.
    Work step() override
    {
        const std::size_t count = std::min(bytes_a_piece_, half_ - at_);
        queue_.hand_in([&](base::cuda::Stream stream) {
            base::cuda::check(base::cuda::driver().copy_inside(memory_.at(half_ + at_), memory_.at(at_), count, stream),
                              "copy inside the GPU");
        });
        at_ = (at_ + count) % half_;
        return {.bytes = 2 * count, .operations = 0};
    }

    void end() override { queue_.drain(); }

    std::string note() const override
    {
        return base::join("bytes read and bytes written, ", context_.name(), ", ", text_of(left_));
    }

 private:
    GpuContext context_;
    std::size_t half_;
    GpuMemory memory_;
    GpuQueue queue_;
    GpuContext::Memory left_;
    std::size_t bytes_a_piece_ = most_bytes_a_piece / 2;
    std::size_t at_ = 0;
};

}  // namespace

extern const StressorCard gpu_memory{
    .name = gpu_memory_name,
    .summary = "copies within a GPU's memory, by one CPU; counts bytes read and bytes written",
    .options = with_intensity(
        "200GiB/s",
        with_gpu({{"size", "512MiB", "GPU memory used, more than its cache; one half is copied to the other"}})),
    .cpus = StressorCard::Cpus::one,
    .counts_bytes = true,
    .needs =
        [](const base::Settings& settings) {
            return Needs{.gpu = gpu_needs(settings, gpu_memory_name, gpu_buffer(settings, gpu_memory_name))};
        },
    .make = [](const base::Settings& settings, const Place& place) -> std::unique_ptr<Stressor> {
        return std::make_unique<GpuMemoryTraffic>(static_cast<std::size_t>(gpu_buffer(settings, gpu_memory_name).count),
                                                  gpu_number(settings.text("device"), place.control_run));
    },
};

}  // namespace noisegen
