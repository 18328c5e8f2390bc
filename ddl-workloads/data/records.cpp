// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/data/records.hpp"

#include <algorithm>

namespace ddl {

namespace {

constexpr std::int64_t longest = 1'000'000'000;  // longest record, in bytes

void check_image(const SampleShape& shape)
{
    const bool positive = std::min({shape.channels, shape.height, shape.width, shape.classes}) >= 1;
    const bool fits = positive && std::max({shape.channels, shape.height, shape.width}) <= longest &&
                      shape.channels * shape.height <= longest / shape.width;
    if (!fits || shape.classes > 256)
        base::fail_usage("images of ", shape.channels, "x", shape.height, "x", shape.width, " in ", shape.classes,
                         " classes do not fit a record file: sizes must be at least 1, classes 1 to 256");
}

void check_text(const SampleShape& shape)
{
    if (shape.length < 1 || shape.length > longest)
        base::fail_usage("samples of text must be 1 to ", longest, " bytes long, not ", shape.length);
}

void check_clicks(const SampleShape& shape)
{
    if (std::min(shape.dense, shape.categories) < 0 || shape.dense + shape.categories < 1 ||
        std::max(shape.dense, shape.categories) > longest / 8 || shape.rows < 1 || shape.rows > UINT32_MAX)
        base::fail_usage("clicks with ", shape.dense, " dense features and ", shape.categories, " categories of ",
                         shape.rows, " rows; at least one feature or category, and one row, are needed");
}

}  // namespace

const SampleShape& checked(const SampleShape& shape)
{
    switch (shape.kind) {
        case SampleShape::Kind::image:
            check_image(shape);
            break;
        case SampleShape::Kind::text:
            check_text(shape);
            break;
        case SampleShape::Kind::clicks:
            check_clicks(shape);
            break;
    }
    return shape;
}

std::string fault_of(const SampleShape& shape, std::span<const std::uint8_t> record)
{
    if (shape.kind == SampleShape::Kind::text) return "";
    if (record[0] >= shape.classes)
        return base::join("label ", int{record[0]}, " is not a class; there are ", shape.classes);
    for (std::int64_t category = 0; category < shape.categories; ++category) {
        const std::uint32_t id = id_at(record.subspan(static_cast<std::size_t>(1 + shape.dense + 4 * category)));
        if (id >= shape.rows)
            return base::join("id ", id, " of category ", category, " is not a row; there are ", shape.rows);
    }
    return "";
}

Records::Records(const SampleShape& shape) : shape_{checked(shape)} {}

void Records::read(std::int64_t number, std::span<std::uint8_t> record) const
{
    fetch(number, record);
    const std::string fault = fault_of(shape_, record);
    if (!fault.empty()) throw CorruptRecord{base::join(place(number), ": ", fault)};
}

}  // namespace ddl
