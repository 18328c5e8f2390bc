// SPDX-License-Identifier: Apache-2.0
#include "noisegen/stressors/memory/random_updates.hpp"

#include "base/random.hpp"

namespace noisegen {

namespace {

// Marsaglia: Xorshift RNGs, Journal of Statistical Software 8(14), 2003. It is cheap compared with a cache miss, unlike
// the engine of base/random.hpp. From any number but 0 it reaches all others.
std::uint64_t next(std::uint64_t x)
{
    x ^= x << 13U;
    x ^= x >> 7U;
    return x ^ x << 17U;
}

// Maps a random number to a word of the table by multiplication with `words` / 2^64 (Lemire 2019).
std::size_t place_of(std::uint64_t random, std::size_t words)
{
    __extension__ using Product = unsigned __int128;
    return static_cast<std::size_t>(static_cast<Product>(random) * words >> 64U);
}

}  // namespace

RandomUpdates::RandomUpdates(std::size_t bytes, std::uint64_t seed)
    : words_{bytes / sizeof(std::uint64_t)}, pages_{bytes}
{
    pages_.fill(std::uint64_t{0});
    base::Random random = base::random_stream(seed, 0);
    for (std::uint64_t& last : last_) last = 1 + base::draw_below(random, base::Random::max());
}

void RandomUpdates::run(std::size_t updates)
{
    std::uint64_t* const table = static_cast<std::uint64_t*>(pages_.data());
    std::array<std::uint64_t, streams> numbers = last_;  // a copy that stays in registers
    for (std::size_t i = 0; i < updates; i += streams)
        for (std::uint64_t& number : numbers) {
            number = next(number);
            table[place_of(number, words_)] ^= number;
        }
    last_ = numbers;
}

std::span<const std::uint64_t> RandomUpdates::table() const
{
    return {static_cast<const std::uint64_t*>(pages_.data()), words_};
}

}  // namespace noisegen
