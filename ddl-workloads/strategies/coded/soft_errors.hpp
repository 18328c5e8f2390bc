// SPDX-License-Identifier: Apache-2.0
// Soft errors with a known truth: a rank's block of the weights is altered before or after it is used. The defaults
// but the rate are those of CodeNet (Dutta et al. 2019), whose errors stay in the block until it is repaired.
#pragma once

#include "base/random.hpp"
#include "ddl-workloads/strategies/coded/blocks.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ddl {

enum class ErrorSite { forward, backward, update };  // operations on a block
std::string text(ErrorSite site);

struct SoftErrorPlan {
    double rate = 0.0;        // probability of an error in an operation of a rank; 0: none
    double density = 0.005;   // share of the block's values that an error alters
    double amplitude = 5.0;   // altered values change by up to this, uniformly
    bool flips_bits = false;  // instead, one bit of each altered value is flipped
    std::vector<ErrorSite> sites{ErrorSite::forward, ErrorSite::backward, ErrorSite::update};
    std::uint64_t seed = 1;
};

// Parses "rate=3e-4,density=0.5%,kind=bit"; an empty text is no error at all. Throws UsageError.
SoftErrorPlan parse_soft_errors(const std::string& text);

class SoftErrors {
 public:
    SoftErrors(SoftErrorPlan plan, int rank);

    // The errors of a step depend on the seed, the rank, the steps done before and the number of this attempt, so that
    // a training that resumes has those that it would have had.
    void begin_step(std::int64_t steps_done, int attempt);

    // Alters the block, or not, and returns the largest change of a value.
    template <class Value>
    std::optional<double> strike(ErrorSite site, BlockOf<Value>& block);

 private:
    template <class Value>
    Value altered(Value value);

    SoftErrorPlan plan_;
    std::uint64_t seed_;  // of this rank
    base::Random random_;
};

}  // namespace ddl
