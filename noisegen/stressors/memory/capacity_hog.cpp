// SPDX-License-Identifier: Apache-2.0
// Allocates memory for the length of its turn and keeps it in use: leaves less for the page cache and other programs,
// and causes reclaim.
#include "base/error.hpp"
#include "base/system/available.hpp"
#include "base/system/clock.hpp"
#include "noisegen/stressors/pages.hpp"
#include "noisegen/stressors/stressor.hpp"

#include <cmath>
#include <optional>

namespace noisegen {

namespace {

constexpr std::size_t portion = std::size_t{4}
                                << 20U;  // bytes touched in a step: about a millisecond if the pages are new
constexpr std::size_t page = 4096;

// Value of bytes=1GiB, or of bytes=25% of the memory available now.
std::size_t hog_bytes(const base::Settings& settings)
{
    const std::string& text = settings.text("bytes");
    std::int64_t bytes = 0;
    if (text.ends_with('%')) {
        const auto share = settings.get<base::Percent>("bytes");
        if (share.value > 100.0) base::fail_usage("capacity.hog[bytes] must be at most 100%, not ", text);
        bytes = std::llround(share.fraction() * static_cast<double>(base::available_memory().count));
    } else {
        bytes = settings.get<base::Bytes>("bytes").count;
    }
    constexpr std::int64_t least = 1 << 20U;
    if (bytes < least) base::fail_usage("capacity.hog[bytes] must be at least 1MiB, such as 1GiB or 25%, not ", text);
    return static_cast<std::size_t>(bytes);
}

double touch_per_s(const base::Settings& settings)
{
    const auto touch = settings.get<base::Rate>("touch");
    if (touch.of != base::Rate::Of::bytes && touch.per_second != 0.0)
        base::fail_usage("capacity.hog[touch] must be a rate in bytes, such as 256MiB/s, or 0, not ",
                         settings.text("touch"));
    constexpr double least = 1024.0;  // slower rates would never touch a portion
    return touch.per_second < least ? 0.0 : touch.per_second;
}

// A share is of the memory available at the start, and the same for all instances.
struct HogSize final : Shared {
    explicit HogSize(std::size_t count) : bytes{count} {}
    std::size_t bytes;
};

class CapacityHog final : public Stressor {
 public:
    CapacityHog(std::size_t bytes, double touch_per_s)
        : bytes_{bytes},
          rest_ns_{touch_per_s > 0.0 ? std::llround(static_cast<double>(portion) / touch_per_s * 1e9) : 0}
    {
    }

    void begin(const Turn&) override
    {
        pages_.emplace(bytes_);
        at_ = 0;
        full_ = false;
    }

    Work step() override
    {
        const std::int64_t now = base::now_ns();
        constexpr std::int64_t second_ns = 1'000'000'000;
        if (full_ && rest_ns_ == 0) return {.bytes = 0, .operations = 0, .rest_until_ns = now + second_ns};
        const std::size_t touched = touch();
        if (!full_) return {.bytes = touched, .operations = 0};
        return {.bytes = touched, .operations = 0, .rest_until_ns = now + rest_ns_};
    }

    void end() override
    {
        const std::int64_t begin = base::now_ns();
        pages_.reset();
        longest_return_ns_ = std::max(longest_return_ns_, base::now_ns() - begin);
    }

    std::string note() const override
    {
        return base::join(bytes_, " bytes a CPU, freed in ", longest_return_ns_ / 1'000'000, " ms at worst");
    }

 private:
    // Touches the next portion; after the last one the first again. Assumes small pages; with huge pages this costs
    // little.
    std::size_t touch()
    {
        volatile std::uint8_t* const memory = static_cast<std::uint8_t*>(pages_->data());
        const std::size_t begin = at_;
        const std::size_t end = std::min(begin + portion, bytes_);
        for (std::size_t i = begin; i < end; i += page) memory[i] = 1;
        full_ = full_ || end == bytes_;
        at_ = end == bytes_ ? 0 : end;
        return end - begin;
    }

    std::size_t bytes_;
    std::int64_t rest_ns_;  // pause between two portions that are touched again; 0: no portion is
    std::optional<Pages> pages_;
    std::size_t at_ = 0;
    bool full_ = false;  // every page has been touched once
    std::int64_t longest_return_ns_ = 0;
};

}  // namespace

// Its intensity is given by `bytes` and `touch`, so it has no rate.
extern const StressorCard capacity_hog{
    .name = "capacity.hog",
    .summary = "allocates memory while it is on and frees it afterwards; counts bytes of touched pages",
    .options = {{"bytes", "1GiB", "memory per CPU, or a share of the memory available at the start: 25%"},
                {"touch", "256MiB/s", "rate of touching it again, so that it stays resident; 0: never"}},
    .counts_bytes = true,
    .needs =
        [](const base::Settings& settings) {
            touch_per_s(settings);
            return Needs{.memory = {static_cast<std::int64_t>(hog_bytes(settings))}};
        },
    .share = [](const base::Settings& settings, const Place&) -> std::unique_ptr<Shared> {
        return std::make_unique<HogSize>(hog_bytes(settings));
    },
    .make = [](const base::Settings& settings, const Place& place) -> std::unique_ptr<Stressor> {
        const auto* size = dynamic_cast<const HogSize*>(place.shared);
        return std::make_unique<CapacityHog>(size == nullptr ? hog_bytes(settings) : size->bytes,
                                             touch_per_s(settings));
    },
};

}  // namespace noisegen
