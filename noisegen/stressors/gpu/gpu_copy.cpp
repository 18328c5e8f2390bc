// SPDX-License-Identifier: Apache-2.0
// Copies between host memory and GPU memory: contend for PCI Express, the GPU's copy engines and the host's memory.
#include "base/error.hpp"
#include "noisegen/stressors/gpu/gpu_options.hpp"
#include "noisegen/stressors/gpu/gpu_work.hpp"
#include "noisegen/stressors/pages.hpp"
#include "noisegen/stressors/step_size.hpp"

#include <algorithm>
#include <optional>

namespace noisegen {

namespace {

constexpr std::size_t most_bytes_a_copy = std::size_t{8} << 20U;  // takes some tenths of a millisecond
constexpr std::size_t least_bytes_a_copy = std::size_t{16} << 10U;

enum class Way { to_device, from_device };

// Host memory: pinned memory, which the GPU reads directly, or pageable memory, which the driver copies to a pinned
// buffer.
class HostBuffer {
 public:
    HostBuffer(std::size_t bytes, bool pinned)
    {
        if (pinned)
            pinned_.emplace(bytes);
        else
            pageable_.emplace(bytes);
        std::fill_n(data(), bytes, std::byte{1});  // touches the memory
    }
    std::byte* data() const { return pinned_ ? pinned_->data() : static_cast<std::byte*>(pageable_->data()); }

 private:
    std::optional<PinnedMemory> pinned_;
    std::optional<Pages> pageable_;
};

// Repeated copies between a host buffer and a GPU buffer in one direction.
class Copies {
 public:
    Copies(Way way, std::size_t bytes, bool pinned) : way_{way}, bytes_{bytes}, host_{bytes, pinned}, device_{bytes} {}

    // Submits the next copy of at most `most` bytes; returns its bytes.
    std::size_t hand_in(std::size_t most)
    {
        const std::size_t count = std::min(most, bytes_ - at_);
        queue_.hand_in([&](base::cuda::Stream stream) {
            const base::cuda::Driver& driver = base::cuda::driver();
            if (way_ == Way::to_device)
                base::cuda::check(driver.copy_to_device(device_.at(at_), host_.data() + at_, count, stream),
                                  "copy to the GPU");
            else
                base::cuda::check(driver.copy_to_host(host_.data() + at_, device_.at(at_), count, stream),
                                  "copy from the GPU");
        });
        at_ = (at_ + count) % bytes_;
        return count;
    }
    void drain() { queue_.drain(); }

 private:
    Way way_;
    std::size_t bytes_;
    HostBuffer host_;
    GpuMemory device_;
    GpuQueue queue_;
    std::size_t at_ = 0;
};

struct CopyPlan {
    std::vector<Way> ways;
    bool pinned = true;
    base::Bytes size;  // size of each buffer: one on the host and one on the GPU for each direction
};

const std::string copy_name = "gpu.copy";

CopyPlan copy_plan(const base::Settings& settings)
{
    CopyPlan plan;
    plan.size = gpu_buffer(settings, copy_name);
    const std::string& direction = settings.text("direction");
    if (direction == "to-device" || direction == "both") plan.ways.push_back(Way::to_device);
    if (direction == "from-device" || direction == "both") plan.ways.push_back(Way::from_device);
    if (plan.ways.empty())
        base::fail_usage(copy_name, "[direction] must be to-device, from-device or both, not ", direction);
    const std::string& memory = settings.text("memory");
    if (memory != "pinned" && memory != "pageable")
        base::fail_usage(copy_name, "[memory] must be pinned or pageable, not ", memory);
    plan.pinned = memory == "pinned";
    return plan;
}

class GpuCopy final : public Stressor {
 public:
    GpuCopy(const CopyPlan& plan, int number) : context_{number}, pinned_{plan.pinned}
    {
        for (const Way way : plan.ways)
            copies_.push_back(std::make_unique<Copies>(way, static_cast<std::size_t>(plan.size.count), plan.pinned));
        left_ = context_.memory();
    }

    void begin(const Turn& turn) override
    {
        context_.use();
        bytes_a_copy_ = step_size(turn.bytes_per_s, least_bytes_a_copy, most_bytes_a_copy);
    }

    // Copies in flight are counted, since they are done before the turn ends. At a rate the two directions alternate.
    Work step() override
    {
        const std::size_t bytes = copies_[next_]->hand_in(bytes_a_copy_);
        next_ = (next_ + 1) % copies_.size();
        return {.bytes = bytes, .operations = 0};
    }

    void end() override
    {
        for (const auto& copies : copies_) copies->drain();
    }

    std::string note() const override
    {
        return base::join(pinned_ ? "pinned" : "pageable", " memory, ", context_.name(), ", ", text_of(left_));
    }

 private:
    GpuContext context_;
    bool pinned_;
    std::vector<std::unique_ptr<Copies>> copies_;
    GpuContext::Memory left_;
    std::size_t bytes_a_copy_ = most_bytes_a_copy;
    std::size_t next_ = 0;
};

}  // namespace

extern const StressorCard gpu_copy{
    .name = copy_name,
    .summary = "copies between host and GPU memory, by one CPU",
    .options = with_intensity(
        "8GiB/s",
        with_gpu({{"direction", "both", "to-device, from-device or both, in turns"},
                  {"memory", "pinned", "pinned: the GPU accesses it directly; pageable: the driver copies"},
                  {"size", "64MiB", "size of each buffer; one per direction on the host and one on the GPU"}})),
    .cpus = StressorCard::Cpus::one,
    .counts_bytes = true,
    .needs =
        [](const base::Settings& settings) {
            const CopyPlan plan = copy_plan(settings);
            const base::Bytes taken{plan.size.count * static_cast<std::int64_t>(plan.ways.size())};
            return Needs{.memory = taken, .gpu = gpu_needs(settings, copy_name, taken)};
        },
    .make = [](const base::Settings& settings, const Place& place) -> std::unique_ptr<Stressor> {
        return std::make_unique<GpuCopy>(copy_plan(settings), gpu_number(settings.text("device"), place.control_run));
    },
};

}  // namespace noisegen
