// SPDX-License-Identifier: Apache-2.0
// Maps step numbers to recorded rows, and finds the steps that every rank has.
#pragma once

#include "base/columns/long_column.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace analysis {

// A recorded step: its number, and its row in the order of recording.
struct NumberedRow {
    std::int64_t number = 0;
    std::size_t row = 0;
    auto operator<=>(const NumberedRow&) const = default;
};

// Sorts by number, stably.
base::LongColumn<NumberedRow> in_order_of_numbers(base::LongColumn<NumberedRow> rows);

struct CommonSteps {
    base::LongColumn<std::int64_t> numbers;           // ascending
    std::vector<base::LongColumn<std::size_t>> rows;  // [rank]: row of each of these steps
    std::size_t incomplete = 0;                       // number of other steps, which only some ranks have
};

// ranks: [rank], in order of numbers. If rows have equal numbers, the first counts.
CommonSteps common_steps(const std::vector<base::LongColumn<NumberedRow>>& ranks);

// Finds the index of a step by its number. Fast for requests nearly in order, even if the numbers are on disk.
class PlaceOfStep {
 public:
    // numbers: ascending; must outlive this object.
    explicit PlaceOfStep(const base::LongColumn<std::int64_t>& numbers) : numbers_{numbers} {}

    // Index of the step; numbers.size() if there is no such step.
    std::size_t operator()(std::int64_t number);

 private:
    const base::LongColumn<std::int64_t>& numbers_;
    std::size_t last_ = 0;
};

}  // namespace analysis
