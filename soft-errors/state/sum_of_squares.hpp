// SPDX-License-Identifier: Apache-2.0
// A sum of squares whose terms neither overflow nor vanish.
#pragma once

#include <cmath>

namespace soft_errors {

// Large, usual and small numbers have a sum each, scaled by powers of two (Blue, ACM TOMS 1978, as LAPACK's dnrm2): the
// sum of usual numbers is the plain one. Numbers are finite.
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

    // Squares, added up, of numbers none of which is large or small; of float32, say.
    void add_squares(double squares) { usual_ += squares; }

    void add(const SumOfSquares& other)
    {
        large_ += other.large_;
        usual_ += other.usual_;
        small_ += other.small_;
    }

    // The L2 norm. Infinite only if no double is as large.
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
