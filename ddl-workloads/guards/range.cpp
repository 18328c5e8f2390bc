// SPDX-License-Identifier: Apache-2.0
// Checks that every number of the state is finite and below a bound. Flipping bit 1 of a number below 2 makes it 2 or
// larger, so a bound of 2 detects every such flip.
#include "base/error.hpp"
#include "base/units.hpp"
#include "ddl-workloads/guards/guard.hpp"
#include "ddl-workloads/guards/state_scan.hpp"

#include <algorithm>
#include <optional>

namespace ddl {

namespace {

constexpr double growth = 16.0;      // allowed growth of a tensor's largest number between two checks
constexpr double least_bound = 2.0;  // needed because momentum starts at zero
constexpr double extreme = 0x1p64;   // a healthy state has no such numbers; most flips of bit 1 exceed it

class Range : public Guard {
 public:
    explicit Range(std::optional<double> bound) : bound_{bound} {}

    std::vector<Finding> before_forward(StateLook& look) override
    {
        const std::vector<StateTensor>& tensors = look.tensors();
        largest_.resize(tensors.size());
        std::vector<Finding> found;
        for (std::size_t i = 0; i < tensors.size(); ++i) {
            if (!is_floating(tensors[i].type)) continue;
            const double largest = largest_magnitude(tensors[i].type, tensors[i].bytes);
            if (largest < bound(i))
                largest_[i] = std::max(largest, largest_[i].value_or(0.0));
            else
                found.push_back({i, base::join("largest ", largest, ", bound ", bound(i))});
        }
        return found;
    }

    bool repair_state(const StateTensor& tensor, const Finding& finding) override
    {
        clip(tensor.type, tensor.bytes, bound(finding.tensor));
        return true;
    }

 private:
    // The tensor's own bound, unless one was given for all tensors.
    double bound(std::size_t tensor) const
    {
        if (bound_) return *bound_;
        return largest_[tensor] ? std::clamp(growth * *largest_[tensor], least_bound, extreme) : extreme;
    }

    std::optional<double> bound_;
    std::vector<std::optional<double>> largest_;  // largest number of each tensor in the checks so far
};

}  // namespace

extern const GuardCard range_guard{
    .name = "range",
    .summary = "before forward: values of model and optimizer that are not finite or too large",
    .options = {{"bound", "auto", "largest magnitude; auto: 16 times the tensor's largest so far, at least 2"}},
    .make = [](const base::Settings& settings) -> std::unique_ptr<Guard> {
        if (settings.text("bound") == "auto") return std::make_unique<Range>(std::nullopt);
        const auto bound = settings.get<double>("bound");
        if (!(bound > 0.0)) base::fail_usage("range[bound]: ", settings.text("bound"), " is not above zero");
        return std::make_unique<Range>(bound);
    },
};

}  // namespace ddl
