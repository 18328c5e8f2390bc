// SPDX-License-Identifier: Apache-2.0
// Compares two costs on a machine whose speed drifts: they are measured alternately in pairs, and the result is the
// median of the pairs' ratios.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace testing {

// A median, and an interval that contains the true median with at least 95 % confidence for any distribution (order
// statistics, binomial with p = 1/2; independent samples).
struct Median {
    double value = 0.0;
    double low = 0.0;
    double high = 0.0;
    std::size_t samples = 0;
    std::string text() const;  // "1.023 [0.998, 1.041] of 15"
};

// Throws Error for fewer than 6 samples, which do not give such an interval.
Median median(std::vector<double> samples);

struct Paired {
    Median first;  // in the unit the callable returns
    Median second;
    Median ratio;  // first / second, pair by pair
};

// Ratio of two costs measured in the same rounds.
Paired paired(const std::vector<double>& firsts, const std::vector<double>& seconds);

// Number of rounds: `full`, or in a quick run (CROSSTALK_BENCH_QUICK) six, the fewest that give an interval.
std::size_t rounds(std::size_t full);

// Runs both once without measuring, then rounds(pairs) times alternately, swapping their order. Each callable returns
// its own cost, for example ns per event.
Paired measure_in_pairs(std::size_t pairs, const std::function<double()>& first, const std::function<double()>& second);

}  // namespace testing
