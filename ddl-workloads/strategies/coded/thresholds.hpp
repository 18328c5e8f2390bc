// SPDX-License-Identifier: Apache-2.0
// The disagreement of symbols above which one of them is wrong, for the products of a layer in one direction.
#pragma once

#include <algorithm>
#include <optional>

namespace ddl {

enum class CodePrecision { fp32, fp64 };

// Calibrated from the first products: a thousand times their largest disagreement, since rounding adds up over updates
// (a hundredfold in 1000, where parts of a product cancel). Until then, and at most, 1e-3; in double precision 1e-9.
class Threshold {
 public:
    explicit Threshold(std::optional<double> given, CodePrecision precision = CodePrecision::fp32)
        : given_{given},
          smallest_{precision == CodePrecision::fp32 ? 1e-6 : 1e-14},
          largest_{precision == CodePrecision::fp32 ? 1e-3 : 1e-9}
    {
    }

    double value() const
    {
        if (given_) return *given_;
        return seen_ < calibration ? largest_ : std::clamp(margin * noise_floor_, smallest_, largest_);
    }
    double noise_floor() const { return noise_floor_; }  // largest disagreement in the first products
    bool is_final() const { return given_.has_value() || seen_ >= calibration; }

    // A product's symbols all agreed.
    void add(double residual)
    {
        if (seen_ >= calibration) return;
        ++seen_;
        noise_floor_ = std::max(noise_floor_, residual);
    }

    // The largest value of the layer's products in this direction. When gradients become small, the rounding of a loss
    // near 1 does not: the disagreement of ranks with different inputs is relative to this value.
    double largest_size() const { return largest_size_; }
    void add_size(double size) { largest_size_ = std::max(largest_size_, size); }

 private:
    static constexpr int calibration = 20;  // products
    static constexpr double margin = 1000.0;

    std::optional<double> given_;
    double smallest_;
    double largest_;
    int seen_ = 0;
    double noise_floor_ = 0.0;
    double largest_size_ = 0.0;
};

}  // namespace ddl
