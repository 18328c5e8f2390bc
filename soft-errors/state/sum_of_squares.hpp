// SPDX-License-Identifier: Apache-2.0
// A sum of squares whose terms neither overflow nor vanish.
#pragma once

#include <cmath>

namespace soft_errors {

// Large, usual and small numbers have separate sums, scaled by powers of two (Blue, ACM TOMS 1978, as in LAPACK's
// dnrm2). The sum of usual numbers is not scaled. All numbers must be finite.
class SumOfSquares {
 public:
    void add(double number)
    {
        const double size = std::abs(number);
        if (size > large)
            large_ += square(size * shrink);
        else if (size >= small)
            usual_ += size * size;
        else
            small_ += square(size * grow);
    }

    // Adds a sum of squares of numbers that are neither large nor small, such as float32 numbers.
    void add_squares(double squares) { usual_ += squares; }

    void add(const SumOfSquares& other)
    {
        large_ += other.large_;
        usual_ += other.usual_;
        small_ += other.small_;
    }

    // The L2 norm. Infinite only if it is larger than any double.
    double root() const
    {
        const double usual = std::sqrt(usual_ + square(std::sqrt(small_) * shrink));
        if (large_ > 0.0) return std::sqrt(large_ + square(usual * shrink)) * grow;
        return usual_ > 0.0 ? usual : std::sqrt(small_) * shrink;
    }

 private:
    static double square(double number) { return number * number; }

    static constexpr double large = 0x1p460;  // 3e138
    static constexpr double small = 0x1p-460;
    static constexpr double grow = 0x1p600;
    static constexpr double shrink = 0x1p-600;

    double large_ = 0.0;
    double usual_ = 0.0;
    double small_ = 0.0;
};

}  // namespace soft_errors
