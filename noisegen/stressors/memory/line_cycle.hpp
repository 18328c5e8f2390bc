// SPDX-License-Identifier: Apache-2.0
// Cache lines that point to each other: one cycle through all of them in an order that no prefetcher guesses.
#pragma once

#include "noisegen/stressors/pages.hpp"

#include <cstddef>

namespace noisegen {

constexpr std::size_t line_bytes = 64;

class LineCycle {
 public:
    // As many lines as fit in `bytes` (one at least). Touches them all; the order is the same every time. Ends early if
    // the program is asked to stop: then the cycle leaves lines out.
    explicit LineCycle(std::size_t bytes);

    struct alignas(line_bytes) Line {
        const Line* next;
    };

    std::size_t size() const { return size_; }
    const Line* begin() const { return static_cast<const Line*>(pages_.data()); }

    // `steps` loads, each of which needs the one before.
    static const Line* follow(const Line* line, std::size_t steps);

 private:
    std::size_t size_;
    Pages pages_;
};

}  // namespace noisegen
