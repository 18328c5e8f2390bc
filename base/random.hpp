// SPDX-License-Identifier: Apache-2.0
// Seeded random numbers that are the same with every compiler and library.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <span>
#include <utility>

namespace base {

// The C++ standard fixes the engine's output but not that of its distributions, so the draws below are our own.
using Random = std::mt19937_64;

// An independent stream of numbers for each `stream` of a seed: an epoch, an image, a block.
inline Random random_stream(std::uint64_t seed, std::uint64_t stream)
{
    std::seed_seq mixed{seed, seed >> 32U, stream, stream >> 32U};  // seed_seq takes the low 32 bits of each
    return Random{mixed};
}

// Uniform in 0 .. bound-1, without bias (rejection). bound > 0.
inline std::uint64_t draw_below(Random& random, std::uint64_t bound)
{
    const std::uint64_t limit = Random::max() - Random::max() % bound;
    std::uint64_t number = random();
    while (number >= limit) number = random();
    return number % bound;
}

// Uniform in [0, 1); 53 random bits.
inline double draw_unit(Random& random)
{
    return static_cast<double>(random() >> 11U) * 0x1.0p-53;
}

// Normal with mean 0 and standard deviation 1 (Box and Muller).
inline double draw_normal(Random& random)
{
    const double radius = std::sqrt(-2.0 * std::log(1.0 - draw_unit(random)));
    return radius * std::cos(2.0 * std::numbers::pi * draw_unit(random));
}

// Fisher-Yates shuffle.
template <class T>
void shuffle(Random& random, std::span<T> items)
{
    for (std::size_t left = items.size(); left > 1; --left)
        std::swap(items[left - 1], items[static_cast<std::size_t>(draw_below(random, left))]);
}

}  // namespace base
