// SPDX-License-Identifier: Apache-2.0
// Checks that the gradient used by the update is not much longer than usual: compares its L2 norm with the median of
// the norms in the preceding steps.
#include "base/error.hpp"
#include "base/units.hpp"
#include "ddl-workloads/guards/guard.hpp"
#include "ddl-workloads/guards/state_scan.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>

namespace ddl {

namespace {

constexpr std::size_t steps_of_a_median = 25;
constexpr std::size_t fewest_steps = 5;  // before that, only numbers that are not finite are reported

class Norm : public Guard {
 public:
    explicit Norm(double factor) : factor_{factor} {}

    std::vector<Finding> before_update(std::span<const std::span<float>> gradients) override
    {
        double sum = 0.0;
        double most = -1.0;
        std::size_t of = 0;
        for (std::size_t i = 0; i < gradients.size(); ++i) {
            const double squares = sum_of_squares(gradients[i]);
            sum += squares;
            if (!(squares <= most) && !std::isnan(most)) {
                most = squares;
                of = i;
            }
        }
        const double norm = std::abs(std::sqrt(sum));  // abs() removes the sign of a NaN
        const double limit = this->limit();
        if (norm <= limit && std::isfinite(norm)) {
            norms_.push_back(norm);
            if (norms_.size() > steps_of_a_median) norms_.pop_front();
            return {};
        }
        const std::string usual = norms_.empty() ? "none before" : base::join("median ", median());
        return {{of, base::join("norm ", norm, ", ", usual)}};
    }

    // Sets numbers that are not finite to 0, then scales the gradient down to the largest norm that is accepted.
    bool repair_gradients(std::span<const std::span<float>> gradients) override
    {
        double sum = 0.0;
        for (const std::span<float> values : gradients) {
            for (float& value : values)
                if (!std::isfinite(value)) value = 0.0F;
            sum += sum_of_squares(values);
        }
        const double norm = std::sqrt(sum);
        if (!(norm > limit())) return true;
        const double share = limit() / norm;
        for (const std::span<float> values : gradients)
            for (float& value : values) value = static_cast<float>(value * share);
        return true;
    }

 private:
    double limit() const
    {
        return norms_.size() < fewest_steps ? std::numeric_limits<double>::infinity() : factor_ * median();
    }

    // For an even number of norms, the lower of the two middle ones.
    double median() const
    {
        std::vector<double> sorted{norms_.begin(), norms_.end()};
        const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - 1) / 2);
        std::nth_element(sorted.begin(), middle, sorted.end());
        return *middle;
    }

    double factor_;
    std::deque<double> norms_;  // of the last steps without a finding
};

}  // namespace

extern const GuardCard norm_guard{
    .name = "norm",
    .summary = "before the update: a gradient whose norm is FACTOR times the median of the previous 25",
    .options = {{"factor", "10x", "factor of the median norm"}},
    .looks_at = LooksAt::gradients,
    .make = [](const base::Settings& settings) -> std::unique_ptr<Guard> {
        std::string text = settings.text("factor");
        if (text.ends_with('x')) text.pop_back();
        const auto factor = base::parse<double>(text);
        if (!(factor > 1.0))
            base::fail_usage("norm[factor]: ", settings.text("factor"), " is not above 1, such as 10x");
        return std::make_unique<Norm>(factor);
    },
};

}  // namespace ddl
