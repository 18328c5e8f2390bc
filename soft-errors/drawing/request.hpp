// SPDX-License-Identifier: Apache-2.0
// How many numbers of a state are altered, which ones, and what happens to each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace soft_errors {

struct BitRange {
    int first = 0;
    int last = 63;
};

enum class NotFinite { allow, redraw, skip };
enum class SiteSampling { element, tensor, stratified };

// How many numbers, which ones.
struct SiteRequest {
    std::uint64_t flips = 1;
    std::optional<double> share = {};           // of all numbers, instead
    std::optional<double> bit_error_rate = {};  // of each bit, instead
    double probability = 1.0;                   // that a number that was drawn is altered
    std::vector<std::string> locations = {};    // paths begin with one of these; none: all but meta/
    std::string role = {};                      // empty: all
    std::string precision = "auto";
    SiteSampling sampling = SiteSampling::element;
};

// Alteration of each of them.
struct FlipRequest {
    std::optional<BitRange> bits = {};  // none: all
    int burst = 1;
    std::string mask = {};             // "101101", at a random place within the bits; empty: none
    std::optional<double> scale = {};  // multiplies instead of flipping
    bool sign = false;                 // may be flipped beside the bits
    NotFinite not_finite = NotFinite::allow;
};

// "1" or "0-31", within 0-63. `option` is what the message calls it. Throws UsageError.
BitRange parse_bits(const char* option, const std::string& text);

}  // namespace soft_errors
