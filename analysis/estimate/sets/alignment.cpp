#include "analysis/estimate/sets/alignment.hpp"

#include <algorithm>
#include <cstdlib>

namespace analysis {

namespace {

using Signatures = std::vector<std::uint64_t>;
using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;

constexpr std::size_t most_edits = 1000;

// Of each number of edits how far each diagonal got in `a`; the diagonals are those from -edits to edits.
using Reached = std::vector<std::vector<std::int64_t>>;

std::int64_t reached(const Reached& before, std::int64_t edits, std::int64_t diagonal)
{
    if (edits < 0 || std::abs(diagonal) > edits) return -1;
    return before[static_cast<std::size_t>(edits)][static_cast<std::size_t>(diagonal + edits)];
}

// Where a diagonal begins after one more edit: down from the one above, or right from the one below.
std::pair<std::int64_t, std::int64_t> begin_of(const Reached& before, std::int64_t edits, std::int64_t diagonal)
{
    const std::int64_t above = reached(before, edits - 1, diagonal + 1);
    const std::int64_t below = reached(before, edits - 1, diagonal - 1);
    const bool down = diagonal == -edits || (diagonal != edits && below < above);
    return down ? std::pair{above, diagonal + 1} : std::pair{below + 1, diagonal - 1};
}

Pairs walked_back(const Reached& before, std::int64_t edits, std::int64_t diagonal)
{
    Pairs pairs;
    for (;; --edits) {
        const std::int64_t end = reached(before, edits, diagonal);
        const auto [begin, from] =
            edits == 0 ? std::pair{std::int64_t{0}, diagonal} : begin_of(before, edits, diagonal);
        for (std::int64_t x = end; x > begin; --x)
            pairs.emplace_back(static_cast<std::size_t>(x - 1), static_cast<std::size_t>(x - 1 - diagonal));
        if (edits == 0) break;
        diagonal = from;
    }
    std::reverse(pairs.begin(), pairs.end());
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
    const std::vector<std::int64_t> numbers = first.numbers;
    for (std::size_t r = 1; r < counted.size(); ++r) {
        std::vector<std::size_t> places;
        std::vector<std::int64_t> known;
        for (const auto& [of_first, own] : matches[r]) {
            known.push_back(numbers[of_first]);
            places.push_back(own);
        }
        keep_steps(*counted[r], places, std::move(known));
    }
    return "the regions that they enter";
}

}  // namespace analysis
