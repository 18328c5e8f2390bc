// SPDX-License-Identifier: Apache-2.0
// STREAM triad, or one of its variants, over arrays larger than the last-level cache: contends for memory bandwidth.
#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "base/system/stop.hpp"
#include "noisegen/stressors/footprint.hpp"
#include "noisegen/stressors/memory/stream_kernels.hpp"
#include "noisegen/stressors/pages.hpp"
#include "noisegen/stressors/step_size.hpp"
#include "noisegen/stressors/stressor.hpp"

#include <algorithm>
#include <array>

namespace noisegen {

namespace {

constexpr std::size_t most_bytes_a_step = std::size_t{4} << 20U;  // traffic of some tenths of a millisecond
constexpr std::size_t least_bytes_a_step = std::size_t{4} << 10U;

class MemoryStream final : public Stressor {
 public:
    MemoryStream(const StreamShape& shape, std::size_t bytes, bool at_once)
        : shape_{shape}, loop_{stream_loops().front().*shape.loop}, pages_{bytes}
    {
        // Arrays lie side by side in whole pages. For a shape with fewer arrays, the missing ones alias the previous
        // one.
        const std::size_t items = bytes / (shape.arrays * sizeof(double)) / page_items * page_items;
        double* const a = static_cast<double*>(pages_.data());
        double* const b = shape.arrays > 1 ? a + items : a;
        double* const c = shape.arrays > 2 ? b + items : b;
        arrays_ = {.a = a, .b = b, .c = c, .items = items};
        constexpr std::size_t portion = std::size_t{4} << 20U;
        while (!at_once && touched_ < items && !base::stop_requested()) touch(std::min(touched_ + portion, items));
    }

    void begin(const Turn& turn) override
    {
        const std::size_t bytes = step_size(turn.bytes_per_s, least_bytes_a_step, most_bytes_a_step / shape_.weight);
        const std::size_t items = bytes / shape_.bytes_per_item / page_items * page_items;
        step_items_ = std::clamp(items, page_items, arrays_.items);
    }

    Work step() override
    {
        const std::size_t items = std::min(step_items_, arrays_.items - at_);
        std::int64_t preparing_ns = 0;
        if (at_ + items > touched_) {
            const std::int64_t began_ns = base::now_ns();
            touch(at_ + items);
            preparing_ns = base::now_ns() - began_ns;
        }
        loop_(arrays_, at_, items);
        at_ = (at_ + items) % arrays_.items;
        return {.bytes = items * shape_.bytes_per_item, .operations = 0, .preparing_ns = preparing_ns};
    }

    std::string note() const override
    {
        return base::join(shape_.name, ": ", shape_.formula, ", ", arrays_.items * shape_.arrays * sizeof(double),
                          " bytes a CPU, ", stream_loops().front().unit);
    }

 private:
    // Writes the memory once: read before that, all of it would be the same page of zeros.
    void touch(std::size_t end)
    {
        const std::array all{arrays_.a, arrays_.b, arrays_.c};
        for (std::size_t i = 0; i < shape_.arrays; ++i) std::fill(all[i] + touched_, all[i] + end, 1.0);
        touched_ = end;
    }

    const StreamShape& shape_;
    StreamLoop loop_;
    Pages pages_;
    StreamArrays arrays_;
    std::size_t step_items_ = page_items;
    std::size_t at_ = 0;
    std::size_t touched_ = 0;
};

const std::string stream_name = "memory.stream";

}  // namespace

extern const StressorCard memory_stream{
    .name = stream_name,
    .summary = "STREAM loops over arrays larger than the last-level cache",
    .options = with_intensity(
        "4GiB/s",
        {footprint_option(),
         {"shape", "triad",
          "triad, copy, scale or add: non-temporal; update: in place; read; write: cached; ntwrite: non-temporal; "
          "partial: 8 bytes a page non-temporal, little traffic that hurts most; pagewrite, pageupdate: a line a "
          "page; worst: the one that slowed the victim of noisegen calibrate --victim most"}}),
    .counts_bytes = true,
    .needs =
        [](const base::Settings& settings) {
            if (settings.text("shape") != worst_shape) stream_shape(settings.text("shape"));
            return footprint_needs(settings, stream_name);
        },
    .make = [](const base::Settings& settings, const Place& place) -> std::unique_ptr<Stressor> {
        return std::make_unique<MemoryStream>(stream_shape(settings.text("shape")),
                                              footprint(settings, place.cpu, stream_name), place.at_once);
    },
};

}  // namespace noisegen
