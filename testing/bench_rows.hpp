// SPDX-License-Identifier: Apache-2.0
// Results of a benchmark: printed, and as rows of the CSV that results/bench/bench.py names (CROSSTALK_BENCH_CSV).
#pragma once

#include "base/csv.hpp"
#include "testing/paired.hpp"

#include <optional>
#include <string>

namespace testing {

// Goal that was set before measuring.
struct Aim {
    const char* kind;  // as rows say it
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
    // `benchmark` names a table in results/bench/measurements.md, to which rows are added.
    explicit BenchRows(std::string benchmark);

    struct Case {
        std::string name;
        std::string beside = {};  // what ran beside it in turns, if anything
        std::string unit = {};
    };

    // Adds our cost, the compared cost, and their ratio, to which the aim applies.
    void add(const Case& of, const Paired& found, const std::optional<Aim>& aim = {});
    // Adds one figure and its aim.
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
