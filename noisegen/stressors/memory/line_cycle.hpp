// SPDX-License-Identifier: Apache-2.0
// Cache lines that point to each other: one cycle through all lines, in an order that no prefetcher predicts.
#pragma once

#include "noisegen/stressors/pages.hpp"

#include <cstddef>

namespace noisegen {

constexpr std::size_t line_bytes = 64;

class LineCycle {
 public:
    // As many lines as fit in `bytes`, at least one. Touches them all; the order is always the same. Stops early if the
    // program is asked to stop; the cycle then lacks some lines.
    explicit LineCycle(std::size_t bytes);

    struct alignas(line_bytes) Line {
        const Line* next;
    };

    std::size_t size() const { return size_; }
    const Line* begin() const { return static_cast<const Line*>(pages_.data()); }

    // Does `steps` loads, each of which depends on the previous one.
    static const Line* follow(const Line* line, std::size_t steps);

 private:
    std::size_t size_;
    Pages pages_;
};

}  // namespace noisegen
