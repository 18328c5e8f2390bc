// SPDX-License-Identifier: Apache-2.0
#include "analysis/estimate/sets/comparable.hpp"

#include "base/error.hpp"
#include "base/words.hpp"

#include <algorithm>
#include <cmath>

namespace analysis {

namespace {

constexpr std::size_t longest_value = 40;
constexpr double same_work = 0.01;  // relative difference of the work

// Compares the emulated work. Work that was calibrated while other programs ran is smaller, which hides the effect of
// noise.
void check_work(const RunSteps& a, const RunSteps& b)
{
    const double own = static_cast<double>(a.piece.count());
    const double other = static_cast<double>(b.piece.count());
    if (std::abs(own - other) <= same_work * std::max(own, other)) return;
    base::fail_usage(a.name, " and ", b.name, " did different emulated work: a unit of work took ",
                     base::format(a.piece), " and ", base::format(b.piece), "; give all runs one emulated[piece=..]");
}

void check_alike(const RunSteps& a, const RunSteps& b)
{
    if (a.ranks.size() != b.ranks.size())
        base::fail_usage(a.name, " has ", a.ranks.size(), " ranks and ", b.name, " ", b.ranks.size(),
                         ": compare runs with equal numbers of ranks");
    if (same_run(a, b)) base::fail_usage(a.name, " and ", b.name, " are the same run, which counts once");
    for (std::size_t m = 0; m < trained_members.size(); ++m) {
        const std::string own = m < a.what_trained.size() ? a.what_trained[m] : "";
        const std::string other = m < b.what_trained.size() ? b.what_trained[m] : "";
        if (own.empty() || other.empty() || own == other) continue;
        base::fail_usage(a.name, " and ", b.name, " differ in ", trained_members[m], ": ",
                         base::shortened(own, longest_value), " and ", base::shortened(other, longest_value),
                         "; compare runs that differ only in the noise");
    }
    check_work(a, b);
}

}  // namespace

void check_comparable(const std::vector<RunSteps>& quiet, const std::vector<RunSteps>& noisy, bool unfinished)
{
    std::vector<const RunSteps*> known;
    for (const auto* set : {&quiet, &noisy})
        for (const RunSteps& run : *set) {
            if (!run.unfinished.empty() && !unfinished)
                base::fail_usage(run.name, " did not complete: ", run.unfinished, "; accept it with --unfinished");
            for (const RunSteps* other : known) check_alike(*other, run);
            known.push_back(&run);
        }
}

}  // namespace analysis
