// SPDX-License-Identifier: Apache-2.0
// The data set `synthetic`: a smooth random pattern for each class, hidden in noise. It can be learnt, and has any size
// and shape.
#include "base/error.hpp"
#include "base/random.hpp"
#include "ddl-workloads/data/data_set.hpp"
#include "ddl-workloads/data/formats/upscale.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace ddl {

namespace {

constexpr std::size_t pattern_side = 8;  // side of a pattern before it is enlarged to the image

using Pattern = std::array<float, pattern_side * pattern_side>;  // values 0 to 1

class Synthetic : public SampleSource {
 public:
    Synthetic(const SampleShape& shape, std::int64_t images, float noise, std::uint64_t seed)
        : shape_{shape}, images_{images}, noise_{noise}, seed_{seed}
    {
        base::Random random{seed};
        patterns_.resize(static_cast<std::size_t>(shape.classes * shape.channels));
        for (Pattern& pattern : patterns_)
            for (float& value : pattern) value = static_cast<float>(base::draw_unit(random));
    }

    std::int64_t samples() const override { return images_; }

    void sample(std::int64_t number, std::span<std::uint8_t> record) const override
    {
        const std::int64_t label = number % shape_.classes;
        base::Random random = base::random_stream(seed_, static_cast<std::uint64_t>(number));
        record[0] = static_cast<std::uint8_t>(label);
        auto pixel = record.begin() + 1;
        for (std::int64_t channel = 0; channel < shape_.channels; ++channel) {
            const Pattern& pattern = patterns_[static_cast<std::size_t>(label * shape_.channels + channel)];
            for (const float value : upscale(pattern, pattern_side, pattern_side, shape_.height, shape_.width)) {
                const float noise = noise_ * (2.0F * static_cast<float>(base::draw_unit(random)) - 1.0F);
                *pixel++ = static_cast<std::uint8_t>(std::lround(255.0F * std::clamp(value + noise, 0.0F, 1.0F)));
            }
        }
    }

 private:
    SampleShape shape_;
    std::int64_t images_;
    float noise_;
    std::uint64_t seed_;
    std::vector<Pattern> patterns_;  // classes x channels
};

std::int64_t whole(const base::Settings& settings, const std::string& name, std::int64_t most)
{
    const auto value = settings.get<std::int64_t>(name);
    if (value < 1 || value > most) base::fail_usage("synthetic[", name, "]: ", value, " is not 1 to ", most);
    return value;
}

}  // namespace

extern const DataSetCard synthetic_data{
    .name = "synthetic",
    .summary = "one random pattern per class plus noise; learnable, of any size",
    .options = {{"samples", "5120", "number of images; every fifth of a class is held out"},
                {"classes", "10", "1 to 256"},
                {"channels", "3", "channels of an image"},
                {"height", "32", "pixels"},
                {"width", "32", "pixels"},
                {"noise", "30%", "amplitude of the noise; 100%: black to white"},
                {"seed", "1", "seed of patterns and noise"}},
    .shape =
        [](const base::Settings& settings) {
            return SampleShape{.channels = whole(settings, "channels", 16),
                               .height = whole(settings, "height", 4096),
                               .width = whole(settings, "width", 4096),
                               .classes = whole(settings, "classes", 256)};
        },
    .make = [](const base::Settings& settings) -> std::unique_ptr<SampleSource> {
        return std::make_unique<Synthetic>(synthetic_data.shape(settings), whole(settings, "samples", 1'000'000'000),
                                           static_cast<float>(settings.get<base::Percent>("noise").fraction()),
                                           settings.get<std::uint64_t>("seed"));
    },
};

}  // namespace ddl
