// SPDX-License-Identifier: Apache-2.0
// Shape of a sample of a data set, and its layout in a record.
#pragma once

#include <boost/endian/conversion.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace ddl {

// A record of an image is a byte of label and channels x height x width bytes of pixels; of text the length + 1 bytes
// from some place on (each but the first is to be guessed from those before it; no label); of clicks (recommendation)
// a byte of label (0 or 1), a byte for each dense feature, and for each category an id of 4 bytes, little-endian.
struct SampleShape {
    enum class Kind { image, text, clicks };

    Kind kind = Kind::image;
    std::int64_t channels = 3;
    std::int64_t height = 32;
    std::int64_t width = 32;
    std::int64_t classes = 10;    // 1 to 256: a label is a byte; of text 256, of clicks 2
    std::int64_t length = 0;      // of text: bytes that are guessed from
    std::int64_t dense = 0;       // features of clicks
    std::int64_t categories = 0;  // of clicks, each with a table of its own
    std::int64_t rows = 0;        // of each such table: ids are below

    std::int64_t pixels() const { return channels * height * width; }
    std::int64_t record_bytes() const
    {
        if (kind == Kind::text) return length + 1;
        if (kind == Kind::clicks) return 1 + dense + 4 * categories;
        return 1 + pixels();
    }
    // Guesses that a sample asks for: of text each next byte.
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

// A number of 4 bytes, little-endian, as in a record of clicks.
inline std::uint32_t id_at(std::span<const std::uint8_t> bytes)
{
    return boost::endian::load_little_u32(bytes.first<4>().data());
}

inline void put_id(std::span<std::uint8_t> bytes, std::uint32_t id)
{
    boost::endian::store_little_u32(bytes.first<4>().data(), id);
}

}  // namespace ddl
