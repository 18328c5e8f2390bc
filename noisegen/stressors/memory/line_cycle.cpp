// SPDX-License-Identifier: Apache-2.0
#include "noisegen/stressors/memory/line_cycle.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace noisegen {

namespace {

// A pseudo-random permutation of 0 .. 2^bits - 1. Each step is invertible (xor with a right shift of the number itself,
// multiplication by an odd number), so no two numbers map to one. Constants: Steele, Lea, Flood 2014 (SplitMix64).
class Mix {
 public:
    explicit Mix(std::size_t size) : bits_{std::max(2U, static_cast<unsigned>(std::bit_width(size - 1)))} {}

    std::uint64_t operator()(std::uint64_t x) const
    {
        const std::uint64_t mask = count() - 1;
        const unsigned half = (bits_ + 1) / 2;
        x = (x ^ x >> half) * 0xbf58'476d'1ce4'e5b9U & mask;
        x = (x ^ x >> half) * 0x94d0'49bb'1331'11ebU & mask;
        return x ^ x >> half;
    }
    std::uint64_t count() const { return std::uint64_t{1} << bits_; }

 private:
    unsigned bits_;
};

}  // namespace

LineCycle::LineCycle(std::size_t bytes)
    : size_{std::max<std::size_t>(1, bytes / line_bytes)}, pages_{size_ * line_bytes}
{
    Line* const lines = static_cast<Line*>(pages_.data());
    const Mix mix{size_};
    // Each line points to the next one in the order of the permutation; numbers beyond the last line are skipped. Every
    // line is written once and none is read, which is several times faster than shuffling.
    Line* const first = lines;
    Line* last = first;
    for (std::uint64_t i = 0; i < mix.count(); ++i) {
        if (i % (1U << 16U) == 0 && base::stop_requested()) break;
        const std::uint64_t line = mix(i);
        if (line == 0 || line >= size_) continue;
        last->next = lines + line;
        last = lines + line;
    }
    last->next = first;
}

const LineCycle::Line* LineCycle::follow(const Line* line, std::size_t steps)
{
    for (std::size_t i = 0; i < steps; ++i) line = line->next;
    return line;
}

}  // namespace noisegen
