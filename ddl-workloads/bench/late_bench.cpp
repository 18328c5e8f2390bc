// SPDX-License-Identifier: Apache-2.0
// Cost of a late rank in a coded training: 11 ranks of mlp, of which one sleeps 20 ms in every other step, with
// late=skip and with late=wait, each in turns with the undelayed training. On fewer cores than ranks the others compute
// while it sleeps, so late=wait costs less here than on nodes of their own.
#include "base/cli/options.hpp"
#include "base/contract/code_tables.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "testing/bench_rows.hpp"
#include "testing/paired.hpp"
#include "testing/testing.hpp"
#include "testing/train_runs.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace {

using testing::operator+;
using testing::Words;

constexpr std::size_t pairs = 15;
constexpr int ranks = 11;
constexpr std::size_t warm_up = 30;  // steps; thresholds are calibrated in the first 20
constexpr double delay_ms = 20.0;
const Words delayed{"--delay", "3:forward:20ms:every=2"};
const Words nothing_else{};

std::vector<double> saved_ms;  // by run with late=skip: median of the first products of the delayed steps

// Time from enough symbols to the last one, in the first product of each delayed step.
double median_saved_ms(const std::filesystem::path& run)
{
    const base::CsvTable rows{run / "train" / base::code::products_table};
    const std::string first_layer = rows.text(0, "layer");
    std::vector<double> all;
    for (std::size_t row = 0; row < rows.rows(); ++row) {
        const auto step = rows.get<std::int64_t>(row, "step");
        if (std::cmp_less(step, warm_up) || step % 2 != 0) continue;
        if (rows.text(row, "pass") == "forward" && rows.text(row, "layer") == first_layer)
            all.push_back(rows.get<double>(row, "saved_ns") / 1e6);
    }
    return testing::median(std::move(all)).value;
}

// Mean step in ms on rank 0.
double mean_step(const Words& options)
{
    const testing::Scratch scratch;
    const testing::TrainRun run = testing::train(ranks, scratch / "run", options);
    if (run.status != 0) base::fail("the training failed: ", run.err);
    const std::vector<testing::StepTime> steps = testing::steps_in(scratch / "run");
    if (options.back() == delayed.back() && run.result["code"].contains("drift"))
        saved_ms.push_back(median_saved_ms(scratch / "run"));
    return static_cast<double>(steps.back().end_ns - steps.at(warm_up).begin_ns) / 1e6 /
           static_cast<double>(steps.size() - warm_up);
}

}  // namespace

int main(int argc, char** argv)
try {
    base::Options options{"late-bench", "what a late rank costs a coded training, skipped and waited for"};
    std::string model = "mlp[hidden=1024]";
    std::string steps = "130";
    options.add("model", model, "the model", "MODEL");
    options.add("steps", steps, "steps of a training", "STEPS");
    if (!options.parse(argc, argv)) return 0;

    const Words work{"--model", model,  "--data",  "digits", "--batch", "64",
                     "--lr",    "0.01", "--trace", "off",    "--steps", steps};
    const auto step = [&](const std::string& late, const Words& delay) {
        const Words strategy{"--strategy", "coded[grid=3x2,parity=1x1" + late + "]"};
        return [=] { return mean_step(work + strategy + delay); };
    };
    testing::BenchRows rows{"late-bench"};
    const std::string skip = ",late=skip,spare=0";
    rows.add({.name = "a rank 20 ms late in every other step, `late=skip`, `" + model + "`, 11 ranks",
              .beside = "undelayed, `late=wait`",
              .unit = "ms"},
             testing::measure_in_pairs(pairs, step(skip, delayed), step("", nothing_else)), testing::at_most(1.10));
    std::vector<double> saved;
    for (const double ms : saved_ms) saved.push_back(ms / delay_ms);
    rows.add({.name = "time saved by the first product that skips the late rank, in its delays"},
             testing::median(saved));
    if (testing::rounds(pairs) < pairs) return 0;
    rows.add({.name = "a rank 20 ms late in every other step, `late=wait`, `" + model + "`, 11 ranks",
              .beside = "undelayed, `late=wait`",
              .unit = "ms"},
             testing::measure_in_pairs(pairs, step("", delayed), step("", nothing_else)));
    rows.add(
        {.name = "undelayed, `late=skip`, `" + model + "`, 11 ranks", .beside = "undelayed, `late=wait`", .unit = "ms"},
        testing::measure_in_pairs(pairs, step(skip, nothing_else), step("", nothing_else)));
} catch (...) {
    return base::report_failure("late-bench");
}
