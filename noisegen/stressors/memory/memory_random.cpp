// SPDX-License-Identifier: Apache-2.0
// Updates of 8 bytes at random places of a table larger than the last-level cache (GUPS): contend for memory latency,
// DRAM pages and address translation.
#include "base/error.hpp"
#include "noisegen/stressors/footprint.hpp"
#include "noisegen/stressors/memory/random_updates.hpp"
#include "noisegen/stressors/step_size.hpp"
#include "noisegen/stressors/stressor.hpp"

namespace noisegen {

namespace {

constexpr std::size_t most_updates_a_step = 32'768;  // take some tenths of a millisecond
constexpr std::size_t least_updates_a_step = 64;
constexpr std::size_t update_bytes = 128;  // a cache line is read and written back

class MemoryRandom final : public Stressor {
 public:
    MemoryRandom(std::size_t bytes, int cpu) : updates_{bytes, static_cast<std::uint64_t>(cpu)} {}

    void begin(const Turn& turn) override
    {
        const double updates_per_s =
            turn.operations_per_s > 0.0 ? turn.operations_per_s : turn.bytes_per_s / update_bytes;
        constexpr std::size_t streams = RandomUpdates::streams;
        step_updates_ = step_size(updates_per_s, least_updates_a_step, most_updates_a_step) / streams * streams;
    }

    Work step() override
    {
        updates_.run(step_updates_);
        return {.bytes = step_updates_ * update_bytes, .operations = step_updates_};
    }

    std::string note() const override
    {
        return base::join("a table of ", updates_.table().size_bytes(), " bytes a CPU, ", RandomUpdates::streams,
                          " random streams");
    }

 private:
    RandomUpdates updates_;
    std::size_t step_updates_ = least_updates_a_step;
};

const std::string random_name = "memory.random";

}  // namespace

extern const StressorCard memory_random{
    .name = random_name,
    .summary =
        "random updates of a large table (GUPS); an operation is an update; its bytes are a line read and written",
    .options = with_intensity("20000000/s", {footprint_option()}),
    .counts_bytes = true,
    .counts_operations = true,
    .needs = [](const base::Settings& settings) { return footprint_needs(settings, random_name); },
    .make = [](const base::Settings& settings, const Place& place) -> std::unique_ptr<Stressor> {
        return std::make_unique<MemoryRandom>(footprint(settings, place.cpu, random_name), place.cpu);
    },
};

}  // namespace noisegen
