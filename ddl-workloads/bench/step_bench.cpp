// What tracing costs a step of the real program on two ranks. Phases and buckets (L0): traced runs against untraced
// ones, in turns, of a model that computes by the clock, for a real one's runs differ by more than that cost. Operators
// (L2, L3): within one run, every third step, which records them, against the step after it, which does not. And what a
// control that is armed, but not asked, adds: nothing.
#include "base/cli/options.hpp"
#include "base/error.hpp"
#include "testing/paired.hpp"
#include "testing/testing.hpp"
#include "testing/train_runs.hpp"

#include <iostream>
#include <string>
#include <vector>

namespace {

using testing::Words;

Words operator+(Words words, const Words& more)
{
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

constexpr std::size_t warm_up = 10;

// In ms, of rank 0.
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

void phases_and_buckets()
{
    constexpr std::size_t pairs = 15;
    const Words work{"--model", "emulated[compute=30ms,gradients=4MiB]", "--data", "synthetic[samples=640]", "--steps",
                     "100"};
    const auto step = [&](const Words& tracing) { return [&work, tracing] { return median_step(work + tracing); }; };
    const testing::Paired found =
        testing::measure_in_pairs(pairs, step({"--instrument", "L0"}), step({"--trace", "off"}));
    std::cout << work[1] << ", L0: a step takes " << found.first.text() << " ms, untraced " << found.second.text()
              << " ms; ratio " << found.ratio.text() << " (at most 1.005)" << std::endl;
}

void armed_control(const Words& work)
{
    constexpr std::size_t pairs = 15;
    const auto step = [&](const Words& control) { return [&work, control] { return median_step(work + control); }; };
    const testing::Paired found = testing::measure_in_pairs(pairs, step({"--control-delay", "4ms"}), step({}));
    std::cout << work[1] << ", --control-delay, not asked: a step takes " << found.first.text() << " ms, without "
              << found.second.text() << " ms; ratio " << found.ratio.text() << " (0.995 to 1.005)" << std::endl;
}

void operators(const std::string& name, const Words& work, const std::string& level, double at_most)
{
    const std::vector<double> ms =
        steps_of_run(work + Words{"--steps", "750", "--instrument", level, "--trace-steps", "0:750:3"});
    std::vector<double> with;
    std::vector<double> without;
    std::vector<double> ratios;
    for (std::size_t step = warm_up; step + 1 < ms.size(); ++step) {
        if (step % 3 != 0) continue;
        with.push_back(ms[step]);
        without.push_back(ms[step + 1]);
        ratios.push_back(ms[step] / ms[step + 1]);
    }
    std::cout << name << ", " << level << ": a step takes " << testing::median(with).text()
              << " ms, the one after it, without operators, " << testing::median(without).text() << " ms; ratio "
              << testing::median(ratios).text() << " (at most " << at_most << ")" << std::endl;
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
        {"GPT, 4 layers, batch 4",
         {"--model", "gpt", "--data", "text[path=/usr/share/common-licenses/GPL-3,length=128]", "--batch", "4"}}};
    for (const auto& [name, work] : works) {
        operators(name, work, "L2", 1.04);
        operators(name, work, "L3", 1.06);
    }
#endif
} catch (...) {
    return base::report_failure("step-bench");
}
