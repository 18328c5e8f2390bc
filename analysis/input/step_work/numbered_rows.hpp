// SPDX-License-Identifier: Apache-2.0
// Where steps are recorded, by their numbers; and which of them every rank has.
#pragma once

#include "base/columns/long_column.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace analysis {

// A step, by its place in the order of recording.
struct NumberedRow {
    std::int64_t number = 0;
    std::size_t row = 0;
    auto operator<=>(const NumberedRow&) const = default;
};

// Sorts by number, stably.
base::LongColumn<NumberedRow> in_order_of_numbers(base::LongColumn<NumberedRow> rows);

struct CommonSteps {
    base::LongColumn<std::int64_t> numbers;           // ascending
    std::vector<base::LongColumn<std::size_t>> rows;  // [rank]: of each of these steps
    std::size_t incomplete = 0;                       // other steps, which some ranks have
};

// ranks: [rank], in order of numbers. Of rows with one number the first counts.
CommonSteps common_steps(const std::vector<base::LongColumn<NumberedRow>>& ranks);

// Finds the places of steps that are asked for nearly in their order: fast, though the numbers may be on disk.
class PlaceOfStep {
 public:
    // numbers: ascending; must outlive it.
    explicit PlaceOfStep(const base::LongColumn<std::int64_t>& numbers) : numbers_{numbers} {}

    // numbers.size() of a step that is not there.
    std::size_t operator()(std::int64_t number);

 private:
    const base::LongColumn<std::int64_t>& numbers_;
    std::size_t last_ = 0;
};

}  // namespace analysis
