// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/guards/state_scan.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>

namespace ddl {

namespace {

// Without the sign bit, the bits of IEEE numbers are ordered like the numbers, followed by infinity and NaN. So the
// largest magnitude is found by integer comparisons, several at a time.
template <class Real>
double largest_of(std::span<const std::byte> bytes)
{
    using Bits = std::conditional_t<sizeof(Real) == 4, std::int32_t, std::int64_t>;
    constexpr std::size_t chunk_bytes = 16;  // vector width of every processor; longer vectors make slow code
    typedef Bits Chunk __attribute__((vector_size(chunk_bytes)));
    constexpr std::size_t side_by_side = 4;
    constexpr Bits no_sign = std::numeric_limits<Bits>::max();

    Chunk largest[side_by_side]{};  // not std::array: its elements would lose the vector type
    std::size_t at = 0;
    for (; at + sizeof largest <= bytes.size(); at += sizeof largest)
        for (std::size_t i = 0; i < side_by_side; ++i) {
            Chunk values;
            std::memcpy(&values, bytes.data() + at + i * chunk_bytes, chunk_bytes);
            values &= no_sign;
            largest[i] = values > largest[i] ? values : largest[i];
        }
    Bits found = 0;
    for (const Chunk& chunk : largest)
        for (std::size_t lane = 0; lane < chunk_bytes / sizeof(Bits); ++lane) found = std::max(found, chunk[lane]);
    for (; at + sizeof(Bits) <= bytes.size(); at += sizeof(Bits)) {
        Bits value = 0;
        std::memcpy(&value, bytes.data() + at, sizeof value);
        value &= no_sign;
        found = std::max(found, value);
    }
    return static_cast<double>(std::bit_cast<Real>(found));
}

template <class Real>
std::size_t clip_all(std::span<std::byte> bytes, double bound)
{
    const std::size_t count = bytes.size() / sizeof(Real);
    const auto value_at = [&](std::size_t i) {
        Real value = 0;
        std::memcpy(&value, bytes.data() + i * sizeof(Real), sizeof value);
        return value;
    };
    Real largest = 0;
    for (std::size_t i = 0; i < count; ++i)
        if (const Real size = std::abs(value_at(i)); static_cast<double>(size) < bound && size > largest)
            largest = size;
    std::size_t clipped = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const Real value = value_at(i);
        if (static_cast<double>(std::abs(value)) < bound) continue;
        const Real instead = std::isnan(value) ? Real{0} : std::copysign(largest, value);
        std::memcpy(bytes.data() + i * sizeof(Real), &instead, sizeof instead);
        ++clipped;
    }
    return clipped;
}

}  // namespace

bool is_floating(ElementType type)
{
    return type == ElementType::float32 || type == ElementType::float64;
}

double largest_magnitude(ElementType type, std::span<const std::byte> bytes)
{
    return type == ElementType::float64 ? largest_of<double>(bytes) : largest_of<float>(bytes);
}

double sum_of_squares(std::span<const float> values)
{
    constexpr std::size_t lanes = 8;  // independent sums, as many as a vector of the processor has elements
    std::array<double, lanes> sums{};
    std::size_t i = 0;
    for (; i + lanes <= values.size(); i += lanes)
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            const double value = values[i + lane];
            sums[lane] += value * value;
        }
    for (; i < values.size(); ++i) sums[0] += static_cast<double>(values[i]) * static_cast<double>(values[i]);
    return std::accumulate(sums.begin(), sums.end(), 0.0);
}

std::size_t clip(ElementType type, std::span<std::byte> bytes, double bound)
{
    return type == ElementType::float64 ? clip_all<double>(bytes, bound) : clip_all<float>(bytes, bound);
}

}  // namespace ddl
