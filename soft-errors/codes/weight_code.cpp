// SPDX-License-Identifier: Apache-2.0
#include "soft-errors/codes/weight_code.hpp"

#include "base/error.hpp"
#include "base/words.hpp"
#include "soft-errors/state/number_format.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace soft_errors {

namespace {

constexpr int most_of_8 = 127;
constexpr int most_of_4 = 7;
constexpr std::uint32_t half_of_8 = 128;

// The nearest number of steps, on a tie the even one; 0 for NaN.
std::int32_t steps_of(float value, float step, int most)
{
    if (!(step > 0.0F) || std::isnan(value)) return 0;
    const auto bound = static_cast<float>(most);
    return static_cast<std::int32_t>(std::clamp(std::nearbyint(value / step), -bound, bound));
}

float value_of_steps(std::int32_t steps, float step)
{
    return static_cast<float>(steps) * step;
}

template <const NumberFormat& Format>
std::uint32_t encode_floating(float value, float)
{
    return static_cast<std::uint32_t>(nearest_bits(Format, static_cast<double>(value)));
}

template <const NumberFormat& Format>
float decode_floating(std::uint32_t word, float)
{
    return static_cast<float>(value_of(Format, word));
}

std::uint32_t encode_float32(float value, float)
{
    return std::bit_cast<std::uint32_t>(value);
}

float decode_float32(std::uint32_t word, float)
{
    return std::bit_cast<float>(word);
}

template <int Bits, int Most>
std::uint32_t encode_twos_complement(float value, float step)
{
    return static_cast<std::uint32_t>(steps_of(value, step, Most)) & ((1U << static_cast<unsigned>(Bits)) - 1U);
}

template <int Bits>
float decode_twos_complement(std::uint32_t word, float step)
{
    constexpr auto unused = static_cast<unsigned>(32 - Bits);
    return value_of_steps(static_cast<std::int32_t>(word << unused) >> unused, step);
}

std::uint32_t encode_sign_magnitude(float value, float step)
{
    const std::int32_t steps = steps_of(value, step, most_of_8);
    return static_cast<std::uint32_t>(std::abs(steps)) | (steps < 0 ? half_of_8 : 0U);
}

float decode_sign_magnitude(std::uint32_t word, float step)
{
    const auto magnitude = static_cast<std::int32_t>(word & (half_of_8 - 1U));
    return value_of_steps((word & half_of_8) != 0 ? -magnitude : magnitude, step);
}

std::uint32_t encode_offset(float value, float step)
{
    return static_cast<std::uint32_t>(steps_of(value, step, most_of_8)) + half_of_8;
}

float decode_offset(std::uint32_t word, float step)
{
    return value_of_steps(static_cast<std::int32_t>(word) - static_cast<std::int32_t>(half_of_8), step);
}

// Codes of neighbouring numbers differ in one bit.
std::uint32_t encode_gray(float value, float step)
{
    const std::uint32_t word = encode_offset(value, step);
    return word ^ word >> 1U;
}

float decode_gray(std::uint32_t word, float step)
{
    for (const unsigned by : {4U, 2U, 1U}) word ^= word >> by;
    return decode_offset(word, step);
}

}  // namespace

const std::vector<WeightCode>& weight_codes()
{
    static const std::vector<WeightCode> all{
        {"fp32", 32, 0, encode_float32, decode_float32},
        {"fp16", 16, 0, encode_floating<float16>, decode_floating<float16>},
        {"bf16", 16, 0, encode_floating<bfloat16>, decode_floating<bfloat16>},
        {"int8", 8, most_of_8, encode_twos_complement<8, most_of_8>, decode_twos_complement<8>},
        {"int4", 4, most_of_4, encode_twos_complement<4, most_of_4>, decode_twos_complement<4>},
        {"sign-magnitude", 8, most_of_8, encode_sign_magnitude, decode_sign_magnitude},
        {"gray", 8, most_of_8, encode_gray, decode_gray},
        {"offset", 8, most_of_8, encode_offset, decode_offset},
    };
    return all;
}

const WeightCode& weight_code(const std::string& name)
{
    std::vector<std::string> names;
    for (const WeightCode& code : weight_codes()) {
        if (code.name == name) return code;
        names.emplace_back(code.name);
    }
    base::fail_usage("'", name, "' is not one of ", base::join_words(names, ", "), base::did_you_mean(name, names));
}

float step_of(const WeightCode& code, std::span<const float> values)
{
    if (code.most_steps == 0) return 1.0F;
    float largest = 0.0F;
    for (const float value : values)
        if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
    return largest / static_cast<float>(code.most_steps);
}

}  // namespace soft_errors
