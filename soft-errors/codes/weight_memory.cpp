// SPDX-License-Identifier: Apache-2.0
#include "soft-errors/codes/weight_memory.hpp"

#include "base/contract/stored_state.hpp"
#include "base/error.hpp"
#include "base/words.hpp"
#include "soft-errors/drawing/geometric_gap.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace soft_errors {

namespace {

// Reads one tensor.
class StoredTensor {
 public:
    StoredTensor(const WeightMemory& memory, std::span<float> weights)
        : memory_{memory}, weights_{weights}, step_{step_of(*memory.code, weights)}
    {
        for (float& weight : weights_) {
            weight = memory_.code->decode(memory_.code->encode(weight, step_), step_);
            if (!std::isfinite(weight)) continue;
            least_ = std::min(least_, weight);
            most_ = std::max(most_, weight);
        }
    }

    std::uint64_t bits_of_weight() const
    {
        return static_cast<std::uint64_t>(memory_.code->bits + (memory_.parity ? 1 : 0));
    }
    std::uint64_t bits() const { return weights_.size() * bits_of_weight(); }

    // Flips bits of a weight, of which the highest may be its parity bit. Returns true if the detector finds it.
    bool damage(std::size_t index, std::uint64_t flipped)
    {
        float& weight = weights_[index];
        if (memory_.parity && std::popcount(flipped) % 2 == 1) {
            weight = 0.0F;
            return true;
        }
        const auto of_weight = static_cast<std::uint32_t>(flipped & ((std::uint64_t{1} << memory_.code->bits) - 1));
        weight = memory_.code->decode(memory_.code->encode(weight, step_) ^ of_weight, step_);
        if (!memory_.range || (least_ <= weight && weight <= most_)) return false;
        weight = std::isnan(weight) || least_ > most_ ? 0.0F : std::clamp(weight, least_, most_);
        return true;
    }

 private:
    const WeightMemory& memory_;
    std::span<float> weights_;
    float step_;
    float least_ = HUGE_VALF;  // range of the undamaged weights, which the detector knows
    float most_ = -HUGE_VALF;
};

}  // namespace

WeightMemory weight_memory(const std::string& code, const std::string& detection, double rate)
{
    const std::vector<std::string> detections{base::stored::detections.begin(), base::stored::detections.end()};
    if (std::ranges::find(detections, detection) == detections.end())
        base::fail_usage("'", detection, "' is not one of ", base::join_words(detections, ", "),
                         base::did_you_mean(detection, detections));
    if (!(rate >= 0.0 && rate <= 1.0)) base::fail_usage("a bit flips with a probability from 0 to 1, not ", rate);
    const bool both = detection == "both";
    return {.code = &weight_code(code),
            .parity = both || detection == "parity",
            .range = both || detection == "range",
            .rate = rate};
}

WeightRead read_weights(const WeightMemory& memory, std::span<float> weights, base::Random& random)
{
    StoredTensor tensor{memory, weights};
    WeightRead read{.bits = tensor.bits()};
    if (memory.rate == 0.0) return read;
    const GeometricGap gap{memory.rate};
    const std::uint64_t bits_of_weight = tensor.bits_of_weight();
    for (std::uint64_t at = gap(random); at < read.bits;) {
        const std::uint64_t index = at / bits_of_weight;
        std::uint64_t flipped = 0;
        for (; at / bits_of_weight == index; at += 1 + gap(random))
            flipped |= std::uint64_t{1} << (at % bits_of_weight);
        read.flipped += static_cast<std::uint64_t>(std::popcount(flipped));
        read.detected += tensor.damage(static_cast<std::size_t>(index), flipped) ? 1 : 0;
    }
    return read;
}

}  // namespace soft_errors
