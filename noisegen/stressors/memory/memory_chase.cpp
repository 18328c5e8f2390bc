// SPDX-License-Identifier: Apache-2.0
// Dependent loads across memory larger than the last-level cache: bound by latency, with little traffic; evict cache
// lines and TLB entries of other programs.
#include "base/error.hpp"
#include "noisegen/stressors/footprint.hpp"
#include "noisegen/stressors/memory/line_cycle.hpp"
#include "noisegen/stressors/step_size.hpp"
#include "noisegen/stressors/stressor.hpp"

namespace noisegen {

namespace {

constexpr std::size_t most_loads_a_step = 4096;  // each takes about 100 ns
constexpr std::size_t least_loads_a_step = 16;

class MemoryChase final : public Stressor {
 public:
    explicit MemoryChase(std::size_t bytes) : cycle_{bytes}, at_{cycle_.begin()} {}

    void begin(const Turn& turn) override
    {
        const double loads_per_s = turn.operations_per_s > 0.0 ? turn.operations_per_s : turn.bytes_per_s / line_bytes;
        step_loads_ = step_size(loads_per_s, least_loads_a_step, most_loads_a_step);
    }

    Work step() override
    {
        at_ = LineCycle::follow(at_, step_loads_);
        return {.bytes = step_loads_ * line_bytes, .operations = step_loads_};
    }

    std::string note() const override { return base::join("one cycle through ", cycle_.size(), " cache lines a CPU"); }

 private:
    LineCycle cycle_;
    const LineCycle::Line* at_;
    std::size_t step_loads_ = least_loads_a_step;
};

const std::string chase_name = "memory.chase";

}  // namespace

extern const StressorCard memory_chase{
    .name = chase_name,
    .summary = "dependent loads through a large cycle of cache lines; an operation is a load, of 64 bytes",
    .options = with_intensity("2000000/s", {footprint_option()}),
    .counts_bytes = true,
    .counts_operations = true,
    .needs = [](const base::Settings& settings) { return footprint_needs(settings, chase_name); },
    .make = [](const base::Settings& settings, const Place& place) -> std::unique_ptr<Stressor> {
        return std::make_unique<MemoryChase>(footprint(settings, place.cpu, chase_name));
    },
};

}  // namespace noisegen
