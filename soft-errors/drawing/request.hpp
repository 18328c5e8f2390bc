// SPDX-License-Identifier: Apache-2.0
// The request for an alteration: how many numbers, which ones, and what happens to each.
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

// The numbers to alter.
struct SiteRequest {
    std::uint64_t flips = 1;
    std::optional<double> share = {};           // share of all numbers, instead of `flips`
    std::optional<double> bit_error_rate = {};  // for each bit, instead of `flips`
    double probability = 1.0;                   // probability that a drawn number is altered
    std::vector<std::string> locations = {};    // prefixes of paths; none: all paths except meta/
    std::string role = {};                      // empty: all roles
    std::string precision = "auto";
    SiteSampling sampling = SiteSampling::element;
};

// The alteration of each number.
struct FlipRequest {
    std::optional<BitRange> bits = {};  // none: all bits
    int burst = 1;
    std::string mask = {};             // "101101", at a random position within the bits; empty: no mask
    std::optional<double> scale = {};  // factor to multiply by, instead of flips
    bool sign = false;                 // the sign may be flipped too
    NotFinite not_finite = NotFinite::allow;
};

// Parses "1" or "0-31", within 0-63. option: its name, for messages. Throws UsageError.
BitRange parse_bits(const char* option, const std::string& text);

}  // namespace soft_errors
