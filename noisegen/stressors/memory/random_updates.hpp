// SPDX-License-Identifier: Apache-2.0
// Updates at random places of a table, like the RandomAccess benchmark (GUPS) of HPC Challenge.
#pragma once

#include "noisegen/stressors/pages.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace noisegen {

class RandomUpdates {
 public:
    static constexpr std::size_t streams = 8;  // independent streams of random numbers, so that cache misses overlap

    // Makes a table of zeros, touched by the calling thread. The seed determines the places.
    RandomUpdates(std::size_t bytes, std::uint64_t seed);

    // Does table[place of r] ^= r for `updates` random r; `updates` must be a multiple of `streams`.
    void run(std::size_t updates);

    std::span<const std::uint64_t> table() const;

 private:
    std::size_t words_;
    Pages pages_;
    std::array<std::uint64_t, streams> last_{};
};

}  // namespace noisegen
