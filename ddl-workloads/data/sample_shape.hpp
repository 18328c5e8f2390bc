// SPDX-License-Identifier: Apache-2.0
// Shape of a data set's samples, and their layout in a record.
#pragma once

#include <boost/endian/conversion.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace ddl {

// Record of an image: one label byte and channels x height x width bytes of pixels. Record of a text: length + 1
// consecutive bytes of it, without a label (each byte but the first is to be predicted from those before it). Record of
// clicks (recommendation): one label byte (0 or 1), one byte for each dense feature, and a 4-byte little-endian id for
// each category.
struct SampleShape {
    enum class Kind { image, text, clicks };

    Kind kind = Kind::image;
    std::int64_t channels = 3;
    std::int64_t height = 32;
    std::int64_t width = 32;
    std::int64_t classes = 10;    // 1 to 256, as a label is one byte; 256 for text, 2 for clicks
    std::int64_t length = 0;      // for text: number of bytes to predict from
    std::int64_t dense = 0;       // for clicks: dense features
    std::int64_t categories = 0;  // for clicks: categories, each with its own embedding table
    std::int64_t rows = 0;        // for clicks: rows of each table; ids are smaller

    std::int64_t pixels() const { return channels * height * width; }
    std::int64_t record_bytes() const
    {
        if (kind == Kind::text) return length + 1;
        if (kind == Kind::clicks) return 1 + dense + 4 * categories;
        return 1 + pixels();
    }
    // Predictions for each sample; for text, one for each next byte.
    std::int64_t answers() const { return kind == Kind::text ? length : 1; }
    bool operator==(const SampleShape&) const = default;
};

inline SampleShape text_shape(std::int64_t length)
{
    return {.kind = SampleShape::Kind::text, .channels = 0, .height = 0, .width = 0, .classes = 256, .length = length};
}

inline SampleShape clicks_shape(std::int64_t dense, std::int64_t categories, std::int64_t rows)
{
    return {.kind = SampleShape::Kind::clicks,
            .channels = 0,
            .height = 0,
            .width = 0,
            .classes = 2,
            .length = 0,
            .dense = dense,
            .categories = categories,
            .rows = rows};
}

// A 4-byte little-endian id, as in a record of clicks.
inline std::uint32_t id_at(std::span<const std::uint8_t> bytes)
{
    return boost::endian::load_little_u32(bytes.first<4>().data());
}

inline void put_id(std::span<std::uint8_t> bytes, std::uint32_t id)
{
    boost::endian::store_little_u32(bytes.first<4>().data(), id);
}

}  // namespace ddl
