// SPDX-License-Identifier: Apache-2.0
// How a weight's number stands in bits: floating-point numbers, and whole ones that count steps of a tensor's scale.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace soft_errors {

struct WeightCode {
    const char* name;  // one of stored::codes
    int bits;          // the lowest of a word
    int most_steps;    // that a weight's value is from zero; 0: a floating-point number, which has no step

    std::uint32_t (*encode)(float value, float step);
    float (*decode)(std::uint32_t word, float step);
};

// In the order of stored::codes.
const std::vector<WeightCode>& weight_codes();

// Throws UsageError with the right name for a wrong one.
const WeightCode& weight_code(const std::string& name);

// The step of a tensor: its largest absolute value, of those that are finite, is the most steps from zero.
float step_of(const WeightCode& code, std::span<const float> values);

}  // namespace soft_errors
