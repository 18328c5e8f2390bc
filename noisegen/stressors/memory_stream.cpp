// STREAM triad, or one of its relatives, over arrays larger than the last-level cache: contends for memory bandwidth.
#include "base/error.hpp"
#include "base/stop.hpp"
#include "noisegen/limits.hpp"
#include "noisegen/pages.hpp"
#include "noisegen/stream_kernels.hpp"
#include "noisegen/stressor.hpp"

#include <algorithm>
#include <optional>

namespace noisegen {

namespace {

constexpr std::size_t line_items = 8;                        // doubles in a cache line
constexpr std::size_t largest_step = std::size_t{8} << 20U;  // bytes of traffic: some tenths of a millisecond
constexpr std::size_t smallest_step = std::size_t{64} << 10U;

// All arrays together. Four times the last-level cache leaves a quarter of hits at most.
std::size_t footprint(const base::Settings& settings, int cpu)
{
    if (settings.text("bytes") == "auto")
        return static_cast<std::size_t>(
            std::max<std::int64_t>(4 * last_level_cache(cpu).count, std::int64_t{64} << 20U));
    const auto bytes = settings.get<base::Bytes>("bytes");
    if (bytes.count < (1 << 20)) base::fail_usage("memory.stream[bytes]: at least 1MiB, not ", settings.text("bytes"));
    return static_cast<std::size_t>(bytes.count);
}

class MemoryStream final : public Stressor {
 public:
    MemoryStream(const StreamShape& shape, std::size_t bytes)
        : shape_{shape}, items_{bytes / (shape.arrays * sizeof(double)) / line_items * line_items}, pages_{bytes}
    {
        double* all = static_cast<double*>(pages_.data());
        const std::size_t total = pages_.size() / sizeof(double);
        constexpr std::size_t portion = std::size_t{1} << 22U;
        for (std::size_t i = 0; i < total && !base::stop_requested(); i += portion)
            std::fill(all + i, all + std::min(i + portion, total), 1.0);
        a_ = all;
        b_ = shape.arrays > 1 ? a_ + items_ : a_;
        c_ = shape.arrays > 2 ? b_ + items_ : b_;
    }

    // A thousandth of a second's rate, so that low rates come evenly too.
    void begin(const Turn& turn) override
    {
        std::size_t bytes = largest_step;
        if (turn.bytes_per_s > 0.0)
            bytes = static_cast<std::size_t>(std::clamp(turn.bytes_per_s / 1000.0, static_cast<double>(smallest_step),
                                                        static_cast<double>(largest_step)));
        step_items_ = std::min(bytes / shape_.bytes_per_item / line_items * line_items, items_);
    }

    Work step() override
    {
        const std::size_t items = std::min(step_items_, items_ - at_);
        shape_.run(a_ + at_, b_ + at_, c_ + at_, items);
        at_ = (at_ + items) % items_;
        return {.bytes = items * shape_.bytes_per_item, .operations = 0};
    }

    std::string note() const override
    {
        return base::join(shape_.name, ": ", shape_.formula, ", ", items_ * shape_.arrays * sizeof(double),
                          " bytes a CPU");
    }

 private:
    const StreamShape& shape_;
    std::size_t items_;  // in each array
    Pages pages_;
    double* a_ = nullptr;
    double* b_ = nullptr;
    double* c_ = nullptr;
    std::size_t step_items_ = line_items;
    std::size_t at_ = 0;
};

}  // namespace

extern const StressorCard memory_stream{
    .name = "memory.stream",
    .summary = "STREAM loops over arrays larger than the last-level cache",
    .options = with_intensity(
        "4GiB/s",
        {{"bytes", "auto", "of memory per CPU; auto: four times the last-level cache, at least 64MiB"},
         {"shape", "triad", "triad, copy, update (in place), read or write; stores bypass the cache but in update"}}),
    .counts_bytes = true,
    .needs =
        [](const base::Settings& settings) {
            stream_shape(settings.text("shape"));
            return Needs{.memory = {static_cast<std::int64_t>(footprint(settings, 0))}, .disk = {}, .directory = {}};
        },
    .make = [](const base::Settings& settings, const Place& place) -> std::unique_ptr<Stressor> {
        return std::make_unique<MemoryStream>(stream_shape(settings.text("shape")), footprint(settings, place.cpu));
    },
};

}  // namespace noisegen
