// SPDX-License-Identifier: Apache-2.0
// The disagreement of symbols above which one of them is wrong, for the products of a layer in one direction.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

namespace ddl {

enum class CodePrecision { fp32, fp64 };

// Relative difference of ranks, by rounding and what follows from it, that is no error.
inline constexpr double most_drift = 1e-3;

// Calibrated from the first products: a thousand times their largest disagreement, since rounding adds up over updates
// (a hundredfold in 1000, where parts of a product cancel). Until then, and at most, 1e-3; in double precision 1e-9.
// An error that is too small to be found until then must not count as rounding: products that disagree far more than
// the one that agrees best are left out.
//
// With late=skip ranks drift apart: their inputs differ by rounding, and where that turns a ReLU on or off, blocks get
// gradients that differ by about 1e-4 (in double precision that does not happen). Such a disagreement is no error: the
// threshold stays at 1e-3, and at a tenth of the calibrated value ranks should agree again.
class Threshold {
 public:
    explicit Threshold(std::optional<double> given, CodePrecision precision = CodePrecision::fp32,
                       bool skips_late = false)
        : given_{given},
          smallest_{precision == CodePrecision::fp32 ? 1e-6 : 1e-14},
          largest_{precision == CodePrecision::fp32 ? most_drift : 1e-9},
          drifts_{skips_late && precision == CodePrecision::fp32}
    {
    }

    double value() const { return given_ ? *given_ : drifts_ ? largest_ : calibrated(); }
    double noise_floor() const { return noise_floor_; }  // largest disagreement in the first products
    std::ptrdiff_t left_out() const { return left_out_; }
    bool is_final() const { return given_.has_value() || std::ssize(first_) >= calibration; }

    // With late=skip: the disagreement above which ranks should agree again.
    double drift_limit() const { return (given_ ? *given_ : calibrated()) / 10.0; }

    // A product's symbols all agreed.
    void add(double residual)
    {
        if (std::ssize(first_) >= calibration) return;
        first_.push_back(residual);
        double least = std::numeric_limits<double>::infinity();
        for (const double one : first_)
            if (one > 0.0) least = std::min(least, one);
        const auto is_rounding = [least](double one) { return one <= far_more * least; };
        noise_floor_ = 0.0;
        for (const double one : first_)
            if (is_rounding(one)) noise_floor_ = std::max(noise_floor_, one);
        left_out_ = std::ssize(first_) - std::ranges::count_if(first_, is_rounding);
    }

    // The largest value of the layer's products in this direction. When gradients become small, the rounding of a loss
    // near 1 does not: the disagreement of ranks with different inputs is relative to this value.
    double largest_size() const { return largest_size_; }
    void add_size(double size) { largest_size_ = std::max(largest_size_, size); }

 private:
    double calibrated() const
    {
        return std::ssize(first_) < calibration ? largest_ : std::clamp(margin * noise_floor_, smallest_, largest_);
    }

    static constexpr int calibration = 20;  // products
    static constexpr double margin = 1000.0;
    static constexpr double far_more = 30.0;

    std::optional<double> given_;
    double smallest_;
    double largest_;
    bool drifts_;
    std::vector<double> first_{};  // disagreement of the first products
    double noise_floor_ = 0.0;
    std::ptrdiff_t left_out_ = 0;  // of the first products
    double largest_size_ = 0.0;
};

}  // namespace ddl
