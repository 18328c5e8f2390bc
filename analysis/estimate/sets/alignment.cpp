// SPDX-License-Identifier: Apache-2.0
#include "analysis/estimate/sets/alignment.hpp"

#include <algorithm>
#include <cstdlib>

namespace analysis {

namespace {

using Signatures = base::LongColumn<std::uint64_t>;
using Pairs = base::LongColumn<PlaceInBoth>;

constexpr std::size_t most_edits = 1000;

// State of Myers' algorithm: [edits][diagonal + edits] is the furthest index in `a` reached on a diagonal from -edits
// to edits.
using Reached = std::vector<std::vector<std::int64_t>>;

std::int64_t reached(const Reached& before, std::int64_t edits, std::int64_t diagonal)
{
    if (edits < 0 || std::abs(diagonal) > edits) return -1;
    return before[static_cast<std::size_t>(edits)][static_cast<std::size_t>(diagonal + edits)];
}

// Where a diagonal begins after one more edit: a step down from the diagonal above, or right from the one below.
std::pair<std::int64_t, std::int64_t> begin_of(const Reached& before, std::int64_t edits, std::int64_t diagonal)
{
    const std::int64_t above = reached(before, edits - 1, diagonal + 1);
    const std::int64_t below = reached(before, edits - 1, diagonal - 1);
    const bool down = diagonal == -edits || (diagonal != edits && below < above);
    return down ? std::pair{above, diagonal + 1} : std::pair{below + 1, diagonal - 1};
}

Pairs walked_back(const Reached& before, std::int64_t edits, std::int64_t diagonal)
{
    struct Alike {
        std::int64_t begin;
        std::int64_t end;
        std::int64_t diagonal;
    };
    std::vector<Alike> stretches;  // the last one first
    for (; edits > 0; --edits) {
        const auto [begin, from] = begin_of(before, edits, diagonal);
        stretches.push_back({begin, reached(before, edits, diagonal), diagonal});
        diagonal = from;
    }
    stretches.push_back({0, reached(before, 0, diagonal), diagonal});
    Pairs pairs;
    for (auto stretch = stretches.rbegin(); stretch != stretches.rend(); ++stretch)
        for (std::int64_t x = stretch->begin; x < stretch->end; ++x)
            pairs.push_back({static_cast<std::size_t>(x), static_cast<std::size_t>(x - stretch->diagonal)});
    return pairs;
}

}  // namespace

Pairs longest_common(const Signatures& a, const Signatures& b, std::size_t most)
{
    const auto length_a = static_cast<std::int64_t>(a.size());
    const auto length_b = static_cast<std::int64_t>(b.size());
    Reached all;
    for (std::int64_t edits = 0; edits <= static_cast<std::int64_t>(most); ++edits) {
        all.emplace_back(static_cast<std::size_t>(2 * edits + 1), -1);
        for (std::int64_t diagonal = -edits; diagonal <= edits; diagonal += 2) {
            std::int64_t x = edits == 0 ? 0 : begin_of(all, edits, diagonal).first;
            while (x >= 0 && x < length_a && x - diagonal >= 0 && x - diagonal < length_b &&
                   a[static_cast<std::size_t>(x)] == b[static_cast<std::size_t>(x - diagonal)])
                ++x;
            all.back()[static_cast<std::size_t>(diagonal + edits)] = x;
            if (diagonal == length_a - length_b && x >= length_a) return walked_back(all, edits, diagonal);
        }
    }
    return {};
}

std::string align(std::vector<RunSteps>& quiet, std::vector<RunSteps>& noisy)
{
    std::vector<RunSteps*> counted;
    for (std::vector<RunSteps>* set : {&quiet, &noisy})
        for (RunSteps& run : *set)
            if (!run.numbered) counted.push_back(&run);
    if (counted.empty()) return "their numbers";
    const RunSteps& first = *counted.front();
    std::vector<Pairs> matches;
    for (const RunSteps* run : counted) {
        matches.push_back(longest_common(first.signature, run->signature, most_edits));
        if (matches.back().empty()) return "their place in the run";
    }
    for (std::size_t r = 1; r < counted.size(); ++r) {
        base::LongColumn<std::size_t> places;
        base::LongColumn<std::int64_t> known;
        for (const PlaceInBoth match : matches[r]) {
            known.push_back(first.numbers[match.first]);
            places.push_back(match.second);
        }
        keep_steps(*counted[r], places, std::move(known));
    }
    return "the regions that they enter";
}

}  // namespace analysis
