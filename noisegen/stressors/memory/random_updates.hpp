// SPDX-License-Identifier: Apache-2.0
// A table and updates at random places of it, as HPC Challenge's RandomAccess (GUPS) does them.
#pragma once

#include "noisegen/stressors/pages.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace noisegen {

class RandomUpdates {
 public:
    static constexpr std::size_t streams = 8;  // of random numbers: independent, so that the processor overlaps misses

    // A table of zeros, touched by the calling thread. The seed sets the places.
    RandomUpdates(std::size_t bytes, std::uint64_t seed);

    // table[place of r] ^= r for `updates` random r, a multiple of `streams`.
    void run(std::size_t updates);

    std::span<const std::uint64_t> table() const;

 private:
    std::size_t words_;
    Pages pages_;
    std::array<std::uint64_t, streams> last_{};
};

}  // namespace noisegen
