// SPDX-License-Identifier: Apache-2.0
// Results of a benchmark: printed, and appended to the CSV named by CROSSTALK_BENCH_CSV (set by
// results/bench/bench.py).
#pragma once

#include "base/csv.hpp"
#include "testing/paired.hpp"

#include <optional>
#include <string>

namespace testing {

// Goal for a figure, set before it was measured.
struct Aim {
    const char* kind;  // as written in the CSV's column
    double bound;
};
inline Aim at_most(double bound)
{
    return {"at most", bound};
}
inline Aim at_least(double bound)
{
    return {"at least", bound};
}

class BenchRows {
 public:
    // `benchmark`: the table in results/bench/measurements.md to which the rows belong.
    explicit BenchRows(std::string benchmark);

    struct Case {
        std::string name;
        std::string beside = {};  // what was measured alternately with it, if anything
        std::string unit = {};
    };

    // Adds three rows: our cost, the cost compared with, and their ratio, to which the aim applies.
    void add(const Case& of, const Paired& found, const std::optional<Aim>& aim = {});
    // Adds one figure, with its aim if there is one.
    void add(const Case& of, const Median& found, const std::optional<Aim>& aim = {});
    void add(const Case& of, double found, const std::optional<Aim>& aim = {});

 private:
    void row(const Case& of, const std::string& quantity, const std::string& unit, const std::string& value,
             const std::string& low = {}, const std::string& high = {});
    void row(const Case& of, const std::string& quantity, const std::string& unit, const Median& found);
    void end(const Case& of, const std::string& unit, const std::optional<Aim>& aim);

    std::string benchmark_;
    std::string run_ = "1";
    std::optional<base::CsvWriter> file_;
};

}  // namespace testing
