// SPDX-License-Identifier: Apache-2.0
// Tables of noises without markup: sections fill them, writers print them.
#pragma once

#include "analysis/results/report.hpp"

#include <functional>
#include <string>
#include <vector>

namespace analysis {

// One row per noise or region.
struct NoiseTable {
    struct Cell {
        std::string value;
        std::string half;  // of the interval; may be empty
        bool strong = false;
        bool zero = false;  // to two digits
    };
    struct Row {
        std::string factor;
        std::string level;
        std::string kind;  // of the effect, in a factorial only
        std::vector<Cell> cells;
    };
    std::string title;
    std::vector<std::string> head;
    std::vector<Row> rows;
    std::string note;
};
// The estimate of an effect, which may be null, and half of its interval.
NoiseTable::Cell cell_of(const Effect* effect, double confidence);

// A row for each effect on the job's step; in a factorial its kind stands in a column of its own.
NoiseTable table_of_effects(const Report& report, const std::string& title, const std::vector<std::string>& columns,
                            const std::function<std::vector<NoiseTable::Cell>(const Effect&)>& cells);

// A row that names a treatment, without cells yet.
NoiseTable::Row row_of(const Treatment& treatment);

// Used steps that lie mostly under a treatment.
base::LongColumn<std::size_t> steps_under(const Report& report, std::size_t treatment);

}  // namespace analysis
