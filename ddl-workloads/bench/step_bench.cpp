// SPDX-License-Identifier: Apache-2.0
// Cost of tracing in a step of the real program on two ranks. Phases and buckets (L0): traced runs alternate with
// untraced runs, of a model that computes for fixed times, since the runs of a real model differ by more than that
// cost. Operators (L2, L3): within one run, every third step, which records them, is compared with the following step,
// which does not. A control that is armed but not requested must add nothing.
#include "base/cli/options.hpp"
#include "base/error.hpp"
#include "testing/bench_rows.hpp"
#include "testing/paired.hpp"
#include "testing/testing.hpp"
#include "testing/train_runs.hpp"

#include <iostream>
#include <string>
#include <vector>

namespace {

using testing::operator+;
using testing::Words;

constexpr std::size_t warm_up = 10;

// Step times in ms on rank 0.
std::vector<double> steps_of_run(const Words& options)
{
    const testing::Scratch scratch;
    const testing::TrainRun run = testing::train(2, scratch / "run", options);
    if (run.status != 0) base::fail("the training failed: ", run.err);
    std::vector<double> ms;
    for (const testing::StepTime& step : testing::steps_in(scratch / "run")) ms.push_back(step.ms());
    return ms;
}

double median_step(const Words& options)
{
    std::vector<double> ms = steps_of_run(options);
    ms.erase(ms.begin(), ms.begin() + warm_up);
    return testing::median(std::move(ms)).value;
}

testing::BenchRows& rows()
{
    static testing::BenchRows all{"step-bench"};
    return all;
}

void phases_and_buckets()
{
    constexpr std::size_t pairs = 15;
    const Words work{"--model", "emulated[compute=30ms,gradients=4MiB]", "--data", "synthetic[samples=640]", "--steps",
                     "100"};
    const auto step = [&](const Words& tracing) { return [&work, tracing] { return median_step(work + tracing); }; };
    rows().add({.name = "phases and buckets (L0), `" + work[1] + "`", .beside = "`--trace off`", .unit = "ms"},
               testing::measure_in_pairs(pairs, step({"--instrument", "L0"}), step({"--trace", "off"})),
               testing::at_most(1.005));
}

void armed_control(const Words& work)
{
    constexpr std::size_t pairs = 15;
    const auto step = [&](const Words& control) { return [&work, control] { return median_step(work + control); }; };
    rows().add({.name = "`--control-delay`, not asked, `" + work[1] + "`", .beside = "without", .unit = "ms"},
               testing::measure_in_pairs(pairs, step({"--control-delay", "4ms"}), step({})), testing::at_most(1.005));
}

void operators(const std::string& name, const Words& work, const std::string& level, double at_most)
{
    const std::size_t steps = testing::rounds(750) < 750 ? 150 : 750;
    const std::vector<double> ms = steps_of_run(work + Words{"--steps", std::to_string(steps), "--instrument", level,
                                                             "--trace-steps", base::join("0:", steps, ":3")});
    std::vector<double> with;
    std::vector<double> without;
    for (std::size_t step = warm_up; step + 1 < ms.size(); ++step) {
        if (step % 3 != 0) continue;
        with.push_back(ms[step]);
        without.push_back(ms[step + 1]);
    }
    rows().add({.name = (level == "L3" ? "all operators (L3) of " : "operators (L2) of ") + name,
                .beside = "the steps after, without",
                .unit = "ms"},
               testing::paired(with, without), testing::at_most(at_most));
}

}  // namespace

int main(int argc, char** argv)
try {
    base::Options options{"step-bench", "what tracing adds to steps, by instrumentation level"};
    std::string only = "all";
    options.add_choice("only", only, {"all", "phases", "control", "operators"}, "what to measure");
    if (!options.parse(argc, argv)) return 0;
    const auto wanted = [&](const char* part) { return only == "all" || only == part; };
    if (wanted("phases")) phases_and_buckets();
    if (wanted("control"))
        armed_control(
            {"--model", "emulated[compute=15ms,gradients=1MiB]", "--data", "synthetic[samples=640]", "--steps", "400"});
#ifdef CROSSTALK_DDL_TORCH
    if (wanted("control")) armed_control({"--model", "mlp", "--data", "synthetic[samples=640]", "--steps", "1500"});
    if (!wanted("operators")) return 0;
    const std::vector<std::pair<std::string, Words>> works{
        {"ResNet-18, width 32, batch 8",
         {"--model", "resnet18[width=32]", "--data", "synthetic[samples=1280]", "--batch", "8"}},
        {"GPT",
         {"--model", "gpt", "--data", "text[path=/usr/share/common-licenses/GPL-3,length=128]", "--batch", "4"}}};
    for (const auto& [name, work] : works) {
        operators(name, work, "L2", 1.04);
        operators(name, work, "L3", 1.06);
    }
#endif
} catch (...) {
    return base::report_failure("step-bench");
}
