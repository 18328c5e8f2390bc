// SPDX-License-Identifier: Apache-2.0
// Multiplications in registers: keep a core busy (clock frequency, power, a sibling hardware thread) without memory
// accesses.
#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "noisegen/stressors/stressor.hpp"

namespace noisegen {

namespace {

std::int64_t unit_ns(const base::Settings& settings)
{
    const auto unit = settings.get<base::Nanoseconds>("unit").count();
    if (unit < 50'000 || unit > 1'000'000)
        base::fail_usage("cpu.spin[unit] must be 50us to 1ms, not ", settings.text("unit"));
    return unit;
}

class CpuSpin final : public Stressor {
 public:
    explicit CpuSpin(std::int64_t unit_ns) : unit_ns_{unit_ns} {}

    void begin(const Turn& turn) override { deadline_ns_ = turn.deadline_ns; }

    Work step() override
    {
        // An operation is a length of this thread's CPU time: if others share the CPU, the rate drops. An operation
        // that a turn's end interrupted is completed first in the next turn.
        const std::int64_t begin = base::thread_cpu_ns();
        const std::int64_t missing = unit_ns_ - done_ns_;
        std::int64_t spent = 0;
        while (spent < missing && base::now_ns() < deadline_ns_) {
            multiply();
            spent = base::thread_cpu_ns() - begin;
        }
        done_ns_ = spent < missing ? done_ns_ + spent : 0;
        return {.bytes = 0, .operations = spent < missing ? 0U : 1U};
    }

 private:
    // Takes some microseconds.
    void multiply()
    {
        for (int i = 0; i < 2'000; ++i) {
            for (double& x : chains_) x = x * 0.999999 + 1e-9;
            asm volatile("" : "+m"(chains_));  // the compiler must treat the result as used
        }
    }

    double chains_[4] = {1.0, 2.0, 3.0, 4.0};  // four independent chains keep the multiplier busy
    std::int64_t unit_ns_;
    std::int64_t deadline_ns_ = 0;
    std::int64_t done_ns_ = 0;  // CPU time already spent on the interrupted operation
};

}  // namespace

extern const StressorCard cpu_spin{
    .name = "cpu.spin",
    .summary = "arithmetic in registers; an operation is `unit` of CPU time, by default a millisecond",
    .options = with_intensity(
        "500/s: half of one CPU",
        {{"unit", "1ms",
          "CPU time of an operation; shorter ones make low rates more even: rate=500/s,unit=100us is 5% of one CPU"}}),
    .counts_operations = true,
    .needs =
        [](const base::Settings& settings) {
            unit_ns(settings);
            return Needs{};
        },
    .make = [](const base::Settings& settings, const Place&) -> std::unique_ptr<Stressor> {
        return std::make_unique<CpuSpin>(unit_ns(settings));
    },
};

}  // namespace noisegen
