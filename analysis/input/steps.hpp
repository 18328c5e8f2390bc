// SPDX-License-Identifier: Apache-2.0
// The training's steps: when each began and ended on every rank, and what it spent its time on.
#pragma once

#include "analysis/input/step_work/long_table.hpp"
#include "base/columns/long_column.hpp"

#include <Eigen/Dense>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace analysis {

struct RankSteps {
    int rank = 0;
    base::LongColumn<std::int64_t> begin_ns;  // by step, on the clock of the rank's node
    base::LongColumn<std::int64_t> end_ns;
    LongTable phase_ms;  // steps x phases; a row adds up to the step
};

// Steps that every rank did, in order.
struct StepTable {
    std::vector<std::string> phases;
    base::LongColumn<std::int64_t> numbers;  // the step's own number, from 0
    std::vector<RankSteps> ranks;
    bool cut_off = false;        // they are of a table that ends in the middle of a row
    std::size_t incomplete = 0;  // other steps, which not all ranks did
    double between_share = 0.0;  // of the time: between steps, before measure_cycles() made it a part of them
};

// Numbers of each step, made when they are asked for: of all steps at once they may be more than memory holds.
class Measures {
 public:
    // Gives a step's first numbers, as many as there is room for.
    using Fill = std::function<void(std::size_t step, std::span<double> values)>;

    Measures() = default;
    Measures(std::size_t steps, Eigen::Index count, Fill fill) : steps_{steps}, count_{count}, fill_{std::move(fill)} {}
    template <class Derived>
    Measures(const Eigen::MatrixBase<Derived>& all) : Measures{held(all)}
    {
    }

    std::size_t steps() const { return steps_; }
    Eigen::Index cols() const { return count_; }

    // The step's first number.
    double first(std::size_t step) const
    {
        double value = 0.0;
        fill_(step, {&value, 1});
        return value;
    }
    void fill(std::size_t step, std::span<double> values) const { fill_(step, values); }

    // The same without all but the first.
    Measures only(Eigen::Index count) const { return {steps_, count, fill_}; }

    // Steps x the first `count` numbers of each.
    Eigen::MatrixXd of(std::span<const Eigen::Index> steps, Eigen::Index count) const;

 private:
    static Measures held(Eigen::MatrixXd all);

    std::size_t steps_ = 0;
    Eigen::Index count_ = 0;
    Fill fill_;
};

// In ms: the step itself, then its phases. Of all ranks their means: the job's step. The steps must outlive them.
Measures measures_of(const RankSteps& rank);
Measures measures_of(const StepTable& table);

// All of them, kept.
LongTable table_of(const Measures& measures);

// And the columns of a table, which must outlive them.
Measures with_columns(const Measures& measures, const LongTable& table);

inline constexpr const char* between_steps = "between_steps";

// Each step lasts until the next one of its rank in the table begins: throughput is lost there as well, also where
// steps are missing, for what was not recorded took its time. The time between is a phase of that name, negative where
// steps overlap. Where it is less than a thousandth of all, it is added to the phase `other`, if there is one. The last
// step keeps its end. Sets StepTable::between_share.
void measure_cycles(StepTable& steps);

}  // namespace analysis
