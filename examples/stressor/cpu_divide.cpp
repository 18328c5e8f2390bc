// SPDX-License-Identifier: Apache-2.0
// A stressor outside of Crosstalk's tree: divisions, each of which depends on the result of the previous one.
//
//   cmake -S examples/stressor -B build/stressor && cmake --build build/stressor
//   noisegen --load build/stressor/libcpu-divide.so --schedule "cpu.divide[rate=5000000/s] 2s; quiet 1s" --duration 12s
#include <cstdint>
#include <noisegen/stressors/outside.hpp>

namespace {

class Divide : public noisegen::Stressor {
 public:
    explicit Divide(std::int64_t operations) : operations_{operations} {}

    // One step: about a millisecond of work. noisegen handles timing, pinning, rates, stopping and records.
    noisegen::Work step() override
    {
        for (std::int64_t i = 0; i < operations_; ++i) value_ = UINT64_MAX / (value_ | 3U) + 7;
        return {.operations = static_cast<std::uint64_t>(operations_)};
    }

 private:
    std::int64_t operations_;
    volatile std::uint64_t value_ = 12'345;
};

const noisegen::StressorCard cpu_divide{
    .name = "cpu.divide",
    .summary = "integer divisions that wait for each other: keeps the divider of a core busy",
    .options = noisegen::with_intensity("5000000/s", {{"operations", "100000", "divisions of a step"}}),
    .counts_operations = true,
    .needs =
        [](const base::Settings& settings) {
            if (settings.get<int>("operations") < 1) base::fail_usage("cpu.divide[operations] must be at least one");
            return noisegen::Needs{};
        },
    .make = [](const base::Settings& settings, const noisegen::Place&) -> std::unique_ptr<noisegen::Stressor> {
        return std::make_unique<Divide>(settings.get<int>("operations"));
    },
};

}  // namespace

CROSSTALK_STRESSOR(cpu_divide)
