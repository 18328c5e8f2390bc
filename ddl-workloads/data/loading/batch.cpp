// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/data/loading/batch.hpp"

#include "base/random.hpp"

#include <algorithm>

namespace ddl {

namespace {

// Random streams for augmentation, distinct from those that order the samples.
constexpr std::uint64_t augmentation_streams = 1ULL << 63U;

float brightness(std::uint8_t byte)
{
    return static_cast<float>(byte) / 127.5F - 1.0F;
}

// Random changes of one image: mirrored, or moved.
struct Move {
    bool mirrored = false;
    std::int64_t down = 0;
    std::int64_t right = 0;
};

std::int64_t draw_shift(base::Random& random, std::int64_t side)
{
    const std::int64_t most = side / 8;
    return static_cast<std::int64_t>(base::draw_below(random, static_cast<std::uint64_t>(2 * most + 1))) - most;
}

Move draw_move(base::Random& random, const Augmentation& augmentation, const SampleShape& shape)
{
    Move move;
    if (augmentation.flip) move.mirrored = base::draw_below(random, 2) == 1;
    if (!augmentation.crop) return move;
    move.down = draw_shift(random, shape.height);
    move.right = draw_shift(random, shape.width);
    return move;
}

void moved(std::span<const std::uint8_t> pixels, const SampleShape& shape, const Move& move, std::span<float> image)
{
    std::size_t to = 0;
    for (std::int64_t channel = 0; channel < shape.channels; ++channel)
        for (std::int64_t y = 0; y < shape.height; ++y)
            for (std::int64_t x = 0; x < shape.width; ++x) {
                const std::int64_t from_y = y - move.down;
                const std::int64_t shifted_x = x - move.right;
                const std::int64_t from_x = move.mirrored ? shape.width - 1 - shifted_x : shifted_x;
                const bool inside = from_y >= 0 && from_y < shape.height && from_x >= 0 && from_x < shape.width;
                const std::int64_t from = (channel * shape.height + from_y) * shape.width + from_x;
                image[to++] = inside ? brightness(pixels[static_cast<std::size_t>(from)]) : -1.0F;
            }
}

Batch decode_images(const SampleShape& shape, std::span<const std::uint8_t> records, const Augmentation& augmentation,
                    base::Random random)
{
    Batch batch;
    const auto pixels = static_cast<std::size_t>(shape.pixels());
    batch.samples = std::ssize(records) / shape.record_bytes();
    batch.images.reserve(static_cast<std::size_t>(batch.samples) * pixels);
    for (; !records.empty(); records = records.subspan(1 + pixels)) {
        batch.labels.push_back(records[0]);
        const std::span<const std::uint8_t> image = records.subspan(1, pixels);
        batch.images.resize(batch.images.size() + pixels);  // sample by sample: the memory is in the cache when filled
        const std::span<float> room = std::span{batch.images}.last(pixels);
        if (augmentation.any())
            moved(image, shape, draw_move(random, augmentation, shape), room);
        else
            std::transform(image.begin(), image.end(), room.begin(), brightness);
    }
    return batch;
}

Batch decode_text(const SampleShape& shape, std::span<const std::uint8_t> records)
{
    Batch batch;
    batch.samples = std::ssize(records) / shape.record_bytes();
    batch.tokens.assign(records.begin(), records.end());
    return batch;
}

Batch decode_clicks(const SampleShape& shape, std::span<const std::uint8_t> records)
{
    Batch batch;
    const auto dense = static_cast<std::size_t>(shape.dense);
    const auto bytes = static_cast<std::size_t>(shape.record_bytes());
    batch.samples = std::ssize(records) / shape.record_bytes();
    batch.tokens.reserve(static_cast<std::size_t>(batch.samples * shape.categories));
    for (; !records.empty(); records = records.subspan(bytes)) {
        batch.labels.push_back(records[0]);
        for (const std::uint8_t feature : records.subspan(1, dense)) batch.images.push_back(brightness(feature));
        for (std::size_t at = 1 + dense; at < bytes; at += 4) batch.tokens.push_back(id_at(records.subspan(at)));
    }
    return batch;
}

}  // namespace

Batch decode(const SampleShape& shape, std::span<const std::uint8_t> records, const Augmentation& augmentation,
             std::uint64_t seed, std::uint64_t number)
{
    switch (shape.kind) {
        case SampleShape::Kind::text:
            return decode_text(shape, records);
        case SampleShape::Kind::clicks:
            return decode_clicks(shape, records);
        case SampleShape::Kind::image:
            break;
    }
    return decode_images(
        shape, records, augmentation,
        augmentation.any() ? base::random_stream(seed, augmentation_streams | number) : base::Random{});
}

}  // namespace ddl
