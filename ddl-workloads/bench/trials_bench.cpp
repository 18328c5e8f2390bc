// SPDX-License-Identifier: Apache-2.0
// Cost of a trial in a warm training compared with a separate process: mlp on two ranks, 50 steps each, alternately.
#include "base/cli/options.hpp"
#include "base/contract/trials.hpp"
#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "testing/bench_rows.hpp"
#include "testing/paired.hpp"
#include "testing/testing.hpp"
#include "testing/train_runs.hpp"

#include <string>
#include <vector>

namespace {

using testing::operator+;
using testing::Words;

constexpr std::size_t pairs = 9;
constexpr int trials = 100;
constexpr std::int64_t steps = 50;
const Words work{"--model", "mlp", "--data", "digits"};

double ms_of(const Words& options)
{
    const testing::Scratch scratch;
    const std::int64_t begin = base::now_ns();
    const testing::TrainRun run = testing::train(2, scratch / "run", work + options);
    if (run.status != 0) base::fail("the training failed: ", run.err);
    return static_cast<double>(base::now_ns() - begin) / 1e6;
}

double cold()
{
    return ms_of({"--steps", std::to_string(steps), "--trace", "off"});
}

// Seconds per trial if one process makes many trials, including its start and end.
double warm()
{
    const testing::Scratch scratch;
    std::vector<base::Trial> all;
    for (int i = 1; i <= trials; ++i)
        all.push_back(
            {.name = std::to_string(i), .bits = "2-31", .steps = steps, .seed = static_cast<std::uint64_t>(i)});
    base::write_trials(scratch / "trials.csv", all);
    return ms_of({"--trials", (scratch / "trials.csv").string()}) / trials;
}

}  // namespace

int main(int argc, char** argv)
try {
    base::Options options{"trials-bench", "a trial in a warm training against one in a process of its own"};
    if (!options.parse(argc, argv)) return 0;
    testing::BenchRows rows{"trials-bench"};
    rows.add({.name = "a trial of 50 steps, `mlp`, 2 ranks", .beside = "a process of its own", .unit = "ms"},
             testing::measure_in_pairs(pairs, warm, cold), testing::at_most(0.2));
} catch (...) {
    return base::report_failure("trials-bench");
}
