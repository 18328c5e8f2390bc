// Multiplications in registers: keeps a core busy (clock frequency, power, a sibling hardware thread) without memory.
#include "base/clock.hpp"
#include "noisegen/stressor.hpp"

namespace noisegen {

namespace {

class CpuSpin final : public Stressor {
 public:
    Work step() override
    {
        // Of this thread's own time: where others share the CPU, less is done and the rate tells.
        const std::int64_t end = base::thread_cpu_ns() + 1'000'000;
        while (base::thread_cpu_ns() < end)
            for (int i = 0; i < 10'000; ++i) {
                for (double& x : chains_) x = x * 0.999999 + 1e-9;
                asm volatile("" : "+m"(chains_));  // the result counts as used
            }
        return {.bytes = 0, .operations = 1};
    }

 private:
    double chains_[4] = {1.0, 2.0, 3.0, 4.0};  // independent, so that the multiplier is never idle
};

}  // namespace

extern const StressorCard cpu_spin{
    .name = "cpu.spin",
    .summary = "arithmetic in registers; an operation is a millisecond of it",
    .options = with_intensity("500/s: half of one CPU"),
    .counts_operations = true,
    .make = [](const base::Settings&, const Place&) -> std::unique_ptr<Stressor> {
        return std::make_unique<CpuSpin>();
    },
};

}  // namespace noisegen
