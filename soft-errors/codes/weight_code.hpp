// SPDX-License-Identifier: Apache-2.0
// Codes of weights in memory: floating-point numbers, and integers that count steps of a tensor's scale.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace soft_errors {

struct WeightCode {
    const char* name;  // a name in stored::codes
    int bits;          // number of bits; a word's lowest bits hold them
    int most_steps;    // largest number of steps from zero; 0: a floating-point code, without steps

    std::uint32_t (*encode)(float value, float step);
    float (*decode)(std::uint32_t word, float step);
};

// All codes, in the order of stored::codes.
const std::vector<WeightCode>& weight_codes();

// Throws UsageError with the most similar name for an unknown one.
const WeightCode& weight_code(const std::string& name);

// The step of a tensor: its largest finite absolute value is most_steps steps from zero.
float step_of(const WeightCode& code, std::span<const float> values);

}  // namespace soft_errors
