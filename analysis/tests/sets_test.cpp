// SPDX-License-Identifier: Apache-2.0
// Tests of sets of runs: alignment, scores, and which runs may be compared.
#include "analysis/estimate/sets/alignment.hpp"
#include "analysis/estimate/sets/comparable.hpp"
#include "analysis/estimate/sets/comparison.hpp"
#include "base/error.hpp"
#include "base/random.hpp"

#include <doctest/doctest.h>

#include <cmath>

using analysis::RunSteps;

namespace {

// Steps of two ranks without numbers. Each letter stands for a region, which a step enters, and for the step's length.
RunSteps run_of(const std::string& letters, std::int64_t begin)
{
    RunSteps run{base::join("run", begin), {"step", "work"}, {}, {}};
    run.numbered = false;
    Eigen::MatrixXd ms(static_cast<Eigen::Index>(letters.size()), 2);
    for (std::size_t i = 0; i < letters.size(); ++i) {
        run.numbers.push_back(static_cast<std::int64_t>(i));
        run.signature.push_back(static_cast<std::uint64_t>(letters[i]));
        ms.row(static_cast<Eigen::Index>(i)).setConstant(static_cast<double>(letters[i] - 'a' + 1));
    }
    run.ms = ms;
    for (int rank = 0; rank < 2; ++rank) run.ranks.push_back({rank, ms, {}, {}});
    run.identity = {begin, begin + 1};
    run.what_trained = {"ddp", "m", "d", "8"};
    return run;
}

std::size_t longest(const std::string& a, const std::string& b)
{
    const std::vector<std::uint64_t> left{a.begin(), a.end()};
    const std::vector<std::uint64_t> right{b.begin(), b.end()};
    const auto pairs = analysis::longest_common(left, right, 1000);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        CHECK(left[pairs[i].first] == right[pairs[i].second]);
        if (i > 0) CHECK((pairs[i].first > pairs[i - 1].first && pairs[i].second > pairs[i - 1].second));
    }
    return pairs.size();
}

// Computes the length by the textbook's table of all prefixes.
std::size_t longest_by_table(const std::string& a, const std::string& b)
{
    std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1, 0));
    for (std::size_t i = 1; i <= a.size(); ++i)
        for (std::size_t j = 1; j <= b.size(); ++j)
            table[i][j] = a[i - 1] == b[j - 1] ? table[i - 1][j - 1] + 1 : std::max(table[i - 1][j], table[i][j - 1]);
    return table[a.size()][b.size()];
}

}  // namespace

TEST_CASE("the longest common list of steps is as long as the textbook's")
{
    CHECK(longest("abcabba", "cbabac") == 4);
    CHECK(longest("aaab", "aaab") == 4);
    CHECK(longest("a", "b") == 0);
    base::Random random{3};
    for (int round = 0; round < 200; ++round) {
        std::string a;
        std::string b;
        for (std::uint64_t i = 0, n = base::draw_below(random, 30); i < n; ++i)
            a += static_cast<char>('a' + base::draw_below(random, 3));
        for (std::uint64_t i = 0, n = base::draw_below(random, 30); i < n; ++i)
            b += static_cast<char>('a' + base::draw_below(random, 3));
        CHECK(longest(a, b) == longest_by_table(a, b));
    }
}

TEST_CASE("steps without numbers are aligned by what they enter, though some are missing")
{
    std::vector<RunSteps> quiet{run_of("aabaabaab", 10), run_of("abaabaab", 20)};
    std::vector<RunSteps> noisy{run_of("aabaaaab", 30), run_of("aabaabaabaab", 40)};
    CHECK(analysis::align(quiet, noisy) == "the regions that they enter");
    const analysis::Comparison comparison =
        analysis::compare({run_of("aabaabaab", 10), run_of("abaabaab", 20)},
                          {run_of("aabaaaab", 30), run_of("aabaabaabaab", 40)}, 0, 0.95);
    // The second run lacks one of the first two steps, the third its second b.
    CHECK(comparison.numbers.size() == 7);
    CHECK(comparison.phases.front().percent == doctest::Approx(0.0));
}

TEST_CASE("steps of programs that do something else in each keep their place")
{
    std::vector<RunSteps> quiet{run_of("abc", 10), run_of("def", 20)};
    std::vector<RunSteps> noisy{run_of("ghi", 30), run_of("klm", 40)};
    CHECK(analysis::align(quiet, noisy) == "their place in the run");
    CHECK(quiet[1].numbers == std::vector<std::int64_t>{0, 1, 2});
}

TEST_CASE("copies, other ranks, other trainings and unfinished runs are refused")
{
    const std::vector<RunSteps> quiet{run_of("aaa", 10), run_of("aaa", 20)};
    const auto refused = [&](const RunSteps& noisy, bool unfinished = false) {
        try {
            analysis::check_comparable(quiet, {noisy}, unfinished);
            return std::string{};
        } catch (const base::UsageError& error) {
            return std::string{error.what()};
        }
    };
    RunSteps other = run_of("aaa", 30);
    CHECK(refused(other).empty());
    CHECK(refused(run_of("aaa", 20)).find("are the same run") != std::string::npos);
    other.what_trained[0] = "naive";
    CHECK(refused(other).find("differ in strategy: ddp and naive") != std::string::npos);
    other = run_of("aaa", 30);
    other.ranks.pop_back();
    CHECK(refused(other).find("has 2 ranks and run30 1") != std::string::npos);
    other = run_of("aaa", 30);
    other.piece = std::chrono::microseconds{12};  // the other runs did no emulated work
    CHECK(refused(other).find("a unit of work took 0s and 12us; give all runs one emulated[piece=..]") !=
          std::string::npos);
    other = run_of("aaa", 30);
    other.unfinished = "a signal ended it";
    CHECK(refused(other).find("--unfinished") != std::string::npos);
    CHECK(refused(other, true).empty());
}

TEST_CASE("the shift of Hodges and Lehmann is the median of all differences")
{
    const Eigen::VectorXd from{{1.0, 2.0, 10.0}};
    const Eigen::VectorXd to{{3.0, 4.0, 5.0}};
    // Differences: 2 3 4, 1 2 3, -7 -6 -5.
    CHECK(analysis::hodges_lehmann(from, to) == doctest::Approx(2.0));
}

TEST_CASE("Benjamini and Hochberg's p of their own example of fifteen")
{
    // Benjamini and Hochberg (1995), section 3.2: at 5 % their procedure rejects the first four, Bonferroni's three.
    const std::vector<double> adjusted =
        analysis::benjamini_hochberg({0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240,
                                      0.4262, 0.5719, 0.6528, 0.7590, 1.0});
    CHECK(adjusted[0] == doctest::Approx(0.0015));
    CHECK(adjusted[3] == doctest::Approx(0.035625));
    CHECK(adjusted[4] == doctest::Approx(0.0603));
    CHECK(adjusted[14] == 1.0);
    CHECK(adjusted[3] <= 0.05);
    CHECK(adjusted[4] > 0.05);
}

TEST_CASE("deviation, susceptibility and resilience of two phases on one rank")
{
    // forward: 10 and 12 ms against 14 and 18 ms; load: 1 and 3 ms against 1 and 3 ms.
    const std::vector<analysis::Resilience> all =
        analysis::resilience({{"forward", {Eigen::VectorXd{{10.0, 12.0}}}, {Eigen::VectorXd{{14.0, 18.0}}}},
                              {"load", {Eigen::VectorXd{{1.0, 3.0}}}, {Eigen::VectorXd{{1.0, 3.0}}}},
                              {"none", {Eigen::VectorXd{{0.0, 0.0}}}, {Eigen::VectorXd{{0.0, 0.0}}}}});
    CHECK(all[0].contribution == doctest::Approx(11.0 / 13.0));
    CHECK(all[0].deviation_quiet_percent == doctest::Approx(100.0 / 11.0));
    CHECK(all[0].deviation_noisy_percent == doctest::Approx(12.5));
    REQUIRE(all[0].susceptibility);
    CHECK(*all[0].susceptibility == doctest::Approx(5.0 / std::sqrt(2.0 + 8.0)));
    CHECK(*all[1].susceptibility == doctest::Approx(0.0));
    // Deviations d: 12.5 and 50, susceptibilities s: 1.58 and 0; w = min(1, 0 / 0.25) = 0.
    CHECK(*all[0].resilience == doctest::Approx(1.0 / 1.25));
    CHECK(*all[1].resilience == doctest::Approx(0.5));
    CHECK(all[0].place == 1);
    CHECK(all[1].place == 2);
    CHECK_FALSE(all[2].susceptibility);
    CHECK(all[2].place == 0);
}

TEST_CASE("p-values are corrected over phases and ranks together")
{
    std::vector<RunSteps> quiet{run_of("aaa", 10), run_of("aba", 20)};
    std::vector<RunSteps> noisy{run_of("bbb", 30), run_of("bcb", 40)};
    const analysis::Comparison comparison = analysis::compare(quiet, noisy, 0, 0.95);
    REQUIRE(comparison.phases.size() == 2);
    REQUIRE(comparison.by_rank.size() == 4);
    double smallest = 1.0;
    for (const auto& row : comparison.by_rank) smallest = std::min(smallest, row.p_welch);
    for (const auto& row : comparison.phases) smallest = std::min(smallest, row.p_welch);
    CHECK(comparison.phases.front().p_holm >= std::min(1.0, 5.0 * smallest));
    CHECK(comparison.phases.front().p_bh <= comparison.phases.front().p_holm);
}
