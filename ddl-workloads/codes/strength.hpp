// SPDX-License-Identifier: Apache-2.0
// Numbers of missing and wrong symbols that a code tolerates, whichever they are.
#pragma once

#include "ddl-workloads/codes/matrix.hpp"

namespace ddl {

struct Strength {
    int symbols = 0;
    int threshold = 0;      // symbols that always suffice
    int erasures = 0;       // missing symbols
    int detected = 0;       // wrong symbols that are noticed
    int random_errors = 0;  // wrong symbols that are corrected, unless the errors conspire
    int any_errors = 0;     // wrong symbols that are corrected
};
Strength strength(const Matrix& generator, int rows_per_symbol = 1);

// Ratio of the largest to the smallest singular value.
double condition_number(const Matrix& matrix);

struct WorstCondition {
    double largest = 1.0;  // condition number of sets of symbols that just suffice
    bool all = true;       // false: of `most` random sets only
};
WorstCondition worst_condition(const Matrix& generator, int rows_per_symbol = 1, int most = 1000);

// A code whose condition number exceeds this is refused in single precision.
inline constexpr double largest_single_condition = 1e6;

}  // namespace ddl
