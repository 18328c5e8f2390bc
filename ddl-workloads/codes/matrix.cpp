// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/codes/matrix.hpp"

#include <algorithm>
#include <array>

namespace ddl {

namespace {

template <class Value>
void add_up(std::span<const double> coefficients, std::span<const Value* const> blocks, std::span<Value> sum)
{
    const auto used = [](double coefficient) { return coefficient != 0.0; };
    const auto first = std::ranges::find_if(coefficients, used);
    if (first != coefficients.end() && *first == 1.0 &&
        std::find_if(first + 1, coefficients.end(), used) == coefficients.end()) {
        std::copy_n(blocks[static_cast<std::size_t>(first - coefficients.begin())], sum.size(), sum.begin());
        return;
    }
    std::array<double, 1024> part{};
    for (std::size_t from = 0; from < sum.size(); from += part.size()) {
        const std::size_t length = std::min(part.size(), sum.size() - from);
        part.fill(0.0);
        for (std::size_t b = 0; b < blocks.size(); ++b) {
            const double coefficient = coefficients[b];
            if (coefficient == 0.0) continue;
            const Value* const block = blocks[b] + from;
            for (std::size_t i = 0; i < length; ++i) part[i] += coefficient * static_cast<double>(block[i]);
        }
        for (std::size_t i = 0; i < length; ++i) sum[from + i] = static_cast<Value>(part[i]);
    }
}

}  // namespace

void weighted_sum(std::span<const double> coefficients, std::span<const float* const> blocks, std::span<float> sum)
{
    add_up(coefficients, blocks, sum);
}

void weighted_sum(std::span<const double> coefficients, std::span<const double* const> blocks, std::span<double> sum)
{
    add_up(coefficients, blocks, sum);
}

}  // namespace ddl
