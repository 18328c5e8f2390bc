// SPDX-License-Identifier: Apache-2.0
// Empty kernels from a context of its own: contend for kernel launches, and make the GPU switch between the contexts of
// two processes.
#include "base/error.hpp"
#include "noisegen/stressors/gpu/gpu_options.hpp"
#include "noisegen/stressors/gpu/gpu_work.hpp"
#include "noisegen/stressors/step_size.hpp"

namespace noisegen {

namespace {

constexpr std::size_t most_launches_a_piece = 128;  // takes some tenths of a millisecond

constexpr const char* nothing_ptx =
#include "noisegen/stressors/gpu/nothing.ptx.inc"
    ;

// The empty kernel, compiled by the driver.
class Nothing {
 public:
    Nothing()
    {
        const base::cuda::Driver& driver = base::cuda::driver();
        base::cuda::check(driver.load_module(&module_, nothing_ptx), "compile a kernel for the GPU");
        base::cuda::check(driver.function(&function_, module_, "crosstalk_nothing"), "find the kernel");
    }
    ~Nothing() { base::cuda::driver().unload_module(module_); }
    Nothing(const Nothing&) = delete;
    Nothing& operator=(const Nothing&) = delete;

    void launch(base::cuda::Stream stream) const
    {
        base::cuda::check(base::cuda::driver().launch(function_, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr),
                          "start a kernel");
    }

 private:
    base::cuda::Module module_ = nullptr;
    base::cuda::Function function_ = nullptr;
};

class GpuLaunch final : public Stressor {
 public:
    explicit GpuLaunch(int number) : context_{number}, left_{context_.memory()} {}

    void begin(const Turn& turn) override
    {
        context_.use();
        launches_ = step_size(turn.operations_per_s, 1, most_launches_a_piece);
    }

    Work step() override
    {
        queue_.hand_in([&](base::cuda::Stream stream) {
            for (std::size_t i = 0; i < launches_; ++i) kernel_.launch(stream);
        });
        return {.bytes = 0, .operations = launches_};
    }

    void end() override { queue_.drain(); }

    std::string note() const override
    {
        return base::join("one thread a kernel, ", context_.name(), ", ", text_of(left_));
    }

 private:
    GpuContext context_;
    Nothing kernel_;
    GpuQueue queue_;
    GpuContext::Memory left_;
    std::size_t launches_ = most_launches_a_piece;
};

const std::string launch_name = "gpu.launch";

}  // namespace

extern const StressorCard gpu_launch{
    .name = launch_name,
    .summary = "empty kernels, launched by one CPU in its own context; an operation is a launch",
    .options = with_intensity("10000/s", with_gpu({})),
    .cpus = StressorCard::Cpus::one,
    .counts_operations = true,
    .needs = [](const base::Settings& settings) { return Needs{.gpu = gpu_needs(settings, launch_name, {})}; },
    .make = [](const base::Settings& settings, const Place& place) -> std::unique_ptr<Stressor> {
        return std::make_unique<GpuLaunch>(gpu_number(settings.text("device"), place.control_run));
    },
};

}  // namespace noisegen
