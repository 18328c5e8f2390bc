// SPDX-License-Identifier: Apache-2.0
// The data set `clicks`: synthetic visits to a shop, for recommendation models. Whether a visit ends in a click depends
// on its features and, more strongly, on hidden weights of its ids, which embedding tables can learn.
#include "base/error.hpp"
#include "base/random.hpp"
#include "ddl-workloads/data/data_set.hpp"

#include <cmath>
#include <vector>

namespace ddl {

namespace {

class Clicks : public SampleSource {
 public:
    Clicks(const SampleShape& shape, std::int64_t samples, std::uint64_t seed)
        : shape_{shape}, samples_{samples}, seed_{seed}
    {
        base::Random random{seed};
        for (std::int64_t feature = 0; feature < shape.dense; ++feature) weights_.push_back(draw_weight(random));
    }

    std::int64_t samples() const override { return samples_; }

    void sample(std::int64_t number, std::span<std::uint8_t> record) const override
    {
        base::Random random = base::random_stream(seed_, static_cast<std::uint64_t>(number));
        double liking = 0.0;
        auto feature = record.begin() + 1;
        for (const double weight : weights_) {
            const double value = base::draw_unit(random);
            *feature++ = static_cast<std::uint8_t>(255.0 * value);
            liking += weight * (2.0 * value - 1.0);
        }
        std::span<std::uint8_t> room = record.subspan(static_cast<std::size_t>(1 + shape_.dense));
        for (std::int64_t category = 0; category < shape_.categories; ++category, room = room.subspan(4)) {
            const std::uint32_t id = draw_id(random);
            put_id(room, id);
            liking += weight_of(category, id);
        }
        // Most visits end as `liking` predicts; some are random.
        const double spread = std::sqrt(static_cast<double>(shape_.dense + shape_.categories));
        const double chance = 1.0 / (1.0 + std::exp(-steepness * liking / spread));
        record[0] = base::draw_unit(random) < chance ? 1 : 0;
    }

 private:
    static constexpr double steepness = 8.0;

    static double draw_weight(base::Random& random) { return 2.0 * base::draw_unit(random) - 1.0; }

    // A few ids occur in most visits, as in real shops.
    std::uint32_t draw_id(base::Random& random) const
    {
        const double place = std::pow(base::draw_unit(random), 3.0);
        return static_cast<std::uint32_t>(place * static_cast<double>(shape_.rows));
    }

    // Returns -1 or 1, computed from the id: a stored table could be larger than memory.
    double weight_of(std::int64_t category, std::uint32_t id) const
    {
        // splitmix64 (Steele, Lea, Flood 2014)
        std::uint64_t mixed = seed_ + 0x9e3779b97f4a7c15 * (static_cast<std::uint64_t>(category) << 32U | id);
        mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9;
        mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111eb;
        return ((mixed ^ (mixed >> 31U)) & 1U) == 0 ? -1.0 : 1.0;
    }

    SampleShape shape_;
    std::int64_t samples_;
    std::uint64_t seed_;
    std::vector<double> weights_;  // weights of the dense features
};

}  // namespace

extern const DataSetCard clicks_data{
    .name = "clicks",
    .summary = "synthetic clicks for a recommender: features, ids, label; learnable, of any size",
    .options = {{"samples", "20480", "number of samples; every fifth of each label is held out"},
                {"dense", "13", "dense features of a sample"},
                {"categories", "26", "ids of a sample, each with its own table"},
                {"rows", "1000", "rows of each table"},
                {"seed", "1", "seed of preferences and samples"}},
    .shape =
        [](const base::Settings& settings) {
            const SampleShape shape =
                clicks_shape(settings.get<std::int64_t>("dense"), settings.get<std::int64_t>("categories"),
                             settings.get<std::int64_t>("rows"));
            return checked(shape);
        },
    .make = [](const base::Settings& settings) -> std::unique_ptr<SampleSource> {
        const auto samples = settings.get<std::int64_t>("samples");
        if (samples < 1 || samples > 1'000'000'000)
            base::fail_usage("clicks[samples]: ", samples, " is not 1 to 1000000000");
        return std::make_unique<Clicks>(clicks_data.shape(settings), samples, settings.get<std::uint64_t>("seed"));
    },
};

}  // namespace ddl
