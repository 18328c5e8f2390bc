// SPDX-License-Identifier: Apache-2.0
// Tables of noises without markup; sections fill them, writers print them.
#pragma once

#include "analysis/results/report.hpp"

#include <functional>
#include <string>
#include <vector>

namespace analysis {

// A table with a row for each noise or region.
struct NoiseTable {
    struct Cell {
        std::string value;
        std::string half;  // half width of the interval; may be empty
        bool strong = false;
        bool zero = false;  // zero when rounded to two digits
    };
    struct Row {
        std::string factor;
        std::string level;
        std::string kind;  // kind of the effect, only in a factorial
        std::vector<Cell> cells;
    };
    std::string title;
    std::vector<std::string> head;
    std::vector<Row> rows;
    std::string note;
};
// The estimate of an effect and the half width of its interval; empty if effect is null.
NoiseTable::Cell cell_of(const Effect* effect, double confidence);

// A table with a row for each effect on the job's step; in a factorial one column is the kind.
NoiseTable table_of_effects(const Report& report, const std::string& title, const std::vector<std::string>& columns,
                            const std::function<std::vector<NoiseTable::Cell>(const Effect&)>& cells);

// The row of a treatment, still without cells.
NoiseTable::Row row_of(const Treatment& treatment);

// The used steps that lie mostly under a treatment.
base::LongColumn<std::size_t> steps_under(const Report& report, std::size_t treatment);

}  // namespace analysis
