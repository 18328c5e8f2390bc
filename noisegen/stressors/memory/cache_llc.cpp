// SPDX-License-Identifier: Apache-2.0
// Updates one word in each line of a share of the last-level cache, repeatedly: evicts other programs' data and
// contends for the cache's bandwidth, with little memory traffic.
#include "base/error.hpp"
#include "base/system/local_rank.hpp"
#include "noisegen/stressors/footprint.hpp"
#include "noisegen/stressors/memory/line_cycle.hpp"
#include "noisegen/stressors/pages.hpp"
#include "noisegen/stressors/step_size.hpp"
#include "noisegen/stressors/stressor.hpp"

#include <map>
#include <mutex>
#include <thread>

namespace noisegen {

namespace {

constexpr std::size_t most_lines_a_step = 65'536;  // takes some tenths of a millisecond
constexpr std::size_t least_lines_a_step = 64;

base::Percent share_of_cache(const base::Settings& settings)
{
    const auto share = settings.get<base::Percent>("footprint");
    if (share.value <= 0.0 || share.value > 100.0)
        base::fail_usage("cache.llc[footprint] must be more than 0% and at most 100% of the cache, not ",
                         settings.text("footprint"));
    return share;
}

std::size_t bytes_of_cache(const Cache& cache, base::Percent share)
{
    return static_cast<std::size_t>(share.fraction() * static_cast<double>(cache.size.count));
}

// Number of instances that work in each cache; complete when all instances have been made.
class Sharers final : public Shared {
 public:
    void add(const Cache& cache)
    {
        const std::lock_guard lock{mutex_};
        ++instances_[cache.cpus];
    }
    std::size_t of(const Cache& cache) const
    {
        const std::lock_guard lock{mutex_};
        return instances_.at(cache.cpus);
    }

 private:
    mutable std::mutex mutex_;
    std::map<base::CpuSet, std::size_t> instances_;
};

// Number of processes of this job and host that share the cache, if they divide the host evenly.
std::size_t processes_at(const Cache& cache)
{
    const auto processes = static_cast<std::size_t>(base::local_rank().size);
    const std::size_t host = std::max<std::size_t>(std::thread::hardware_concurrency(), cache.cpus.size());
    return (processes * cache.cpus.size() + host - 1) / host;
}

class CacheLlc final : public Stressor {
 public:
    CacheLlc(const Cache& cache, base::Percent share, const Place& place)
        : cache_{cache},
          bytes_{bytes_of_cache(cache, share)},
          sharers_{dynamic_cast<Sharers*>(place.shared)},
          pages_{bytes_}
    {
        if (sharers_ != nullptr) sharers_->add(cache_);
        touch(bytes_ / (place.count * processes_at(cache_)));
    }

    void begin(const Turn& turn) override
    {
        const std::size_t sharers = sharers_ == nullptr ? 1 : sharers_->of(cache_);
        lines_ = std::max<std::size_t>(1, bytes_ / (sharers * processes_at(cache_)) / line_bytes);
        touch(lines_ * line_bytes);
        if (at_ >= lines_) at_ = 0;  // the share has shrunk: other instances share the cache
        step_lines_ = std::min(step_size(turn.operations_per_s, least_lines_a_step, most_lines_a_step), lines_);
    }

    Work step() override
    {
        volatile std::uint64_t* const words = static_cast<std::uint64_t*>(pages_.data());
        const std::size_t end = std::min(at_ + step_lines_, lines_);
        const std::size_t done = end - at_;
        for (; at_ < end; ++at_) {
            const std::size_t word = at_ * (line_bytes / sizeof(std::uint64_t));
            words[word] = words[word] + 1;
        }
        if (at_ == lines_) at_ = 0;
        return {.bytes = 0, .operations = done};
    }

    std::string note() const override
    {
        return base::join(lines_ * line_bytes, " bytes a CPU of the last-level cache of ", base::format(cache_.size),
                          " that CPUs ", base::format_cpus(cache_.cpus), " share");
    }

 private:
    void touch(std::size_t bytes)
    {
        if (bytes <= touched_) return;
        pages_.fill(std::uint64_t{0}, bytes);
        touched_ = bytes;
    }

    Cache cache_;
    std::size_t bytes_;  // bytes in this cache, for all instances that share it
    Sharers* sharers_;
    Pages pages_;
    std::size_t touched_ = 0;
    std::size_t lines_ = 1;  // this instance's share
    std::size_t step_lines_ = 1;
    std::size_t at_ = 0;
};

}  // namespace

extern const StressorCard cache_llc{
    .name = "cache.llc",
    .summary = "updates a share of the last-level cache; an operation is a cache line",
    .options = with_intensity(
        "50000000/s",
        {{"footprint", "75%", "share of each last-level cache, divided over the noise CPUs that share it"}}),
    .counts_operations = true,
    .needs =
        [](const base::Settings& settings) {
            // An upper bound: the share is smaller if several CPUs share a cache.
            const std::size_t bytes = bytes_of_cache(last_level_cache(0), share_of_cache(settings));
            return Needs{.memory = {static_cast<std::int64_t>(bytes)}};
        },
    .share = [](const base::Settings&, const Place&) -> std::unique_ptr<Shared> { return std::make_unique<Sharers>(); },
    .make = [](const base::Settings& settings, const Place& place) -> std::unique_ptr<Stressor> {
        return std::make_unique<CacheLlc>(last_level_cache(place.cpu), share_of_cache(settings), place);
    },
};

}  // namespace noisegen
