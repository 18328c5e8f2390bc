// SPDX-License-Identifier: Apache-2.0
// The training's steps: when each began and ended on every rank, and the time of its phases.
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
    base::LongColumn<std::int64_t> begin_ns;  // [step], on the clock of the rank's node
    base::LongColumn<std::int64_t> end_ns;
    LongTable phase_ms;  // steps x phases; a row adds up to the step's time
};

// The steps that every rank did, in order.
struct StepTable {
    std::vector<std::string> phases;
    base::LongColumn<std::int64_t> numbers;  // [step]: the step's own number, from 0
    std::vector<RankSteps> ranks;
    bool cut_off = false;        // the table of steps that was read ends in the middle of a row
    std::size_t incomplete = 0;  // number of other steps, which not all ranks did
    double between_share = 0.0;  // share of time between steps, before measure_cycles() added it to the steps
};

// The measures of each step, computed on request: those of all steps at once may not fit into memory.
class Measures {
 public:
    // Computes the first measures of a step, as many as `values` has room for.
    using Fill = std::function<void(std::size_t step, std::span<double> values)>;

    Measures() = default;
    Measures(std::size_t steps, Eigen::Index count, Fill fill) : steps_{steps}, count_{count}, fill_{std::move(fill)} {}
    template <class Derived>
    Measures(const Eigen::MatrixBase<Derived>& all) : Measures{held(all)}
    {
    }

    std::size_t steps() const { return steps_; }
    Eigen::Index cols() const { return count_; }

    // The first measure of a step.
    double first(std::size_t step) const
    {
        double value = 0.0;
        fill_(step, {&value, 1});
        return value;
    }
    void fill(std::size_t step, std::span<double> values) const { fill_(step, values); }

    // Only the first `count` measures.
    Measures only(Eigen::Index count) const { return {steps_, count, fill_}; }

    // Steps x the first `count` measures.
    Eigen::MatrixXd of(std::span<const Eigen::Index> steps, Eigen::Index count) const;

 private:
    static Measures held(Eigen::MatrixXd all);

    std::size_t steps_ = 0;
    Eigen::Index count_ = 0;
    Fill fill_;
};

// Measures in ms: the step itself, then its phases. Those of a StepTable are means over ranks: the job's step. The
// argument must outlive them.
Measures measures_of(const RankSteps& rank);
Measures measures_of(const StepTable& table);

// All measures of all steps, computed and kept.
LongTable table_of(const Measures& measures);

// The measures, followed by the columns of a table, which must outlive them.
Measures with_columns(const Measures& measures, const LongTable& table);

inline constexpr const char* between_steps = "between_steps";

// Lets each step last until the next step of its rank in the table begins: throughput is lost between steps too. This
// holds also where steps are missing, because unrecorded steps took time. The time between steps becomes the phase
// between_steps, negative where steps overlap. If it is less than a thousandth of all time, it is added to the phase
// `other`, if there is one. The last step keeps its end. Sets StepTable::between_share.
void measure_cycles(StepTable& steps);

}  // namespace analysis
