// What noisegen alter was asked to do, checked as far as it can be without the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace noisegen {

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

// What happens to each of them.
struct FlipRequest {
    std::optional<BitRange> bits = {};  // none: all
    int burst = 1;
    std::string mask = {};             // "101101", at a random place within the bits; empty: none
    std::optional<double> scale = {};  // multiplies instead of flipping
    bool sign = false;                 // may be flipped beside the bits
    NotFinite not_finite = NotFinite::allow;
};

struct AlterRequest {
    std::filesystem::path file = {};
    std::filesystem::path out = {};  // empty: in place
    std::filesystem::path record = {};
    SiteRequest sites = {};
    FlipRequest flips = {};
    std::uint64_t seed = 1;
    bool keep_checksum = false;
    bool dry_run = false;
    std::filesystem::path replay = {};
    std::filesystem::path map = {};
};

}  // namespace noisegen
