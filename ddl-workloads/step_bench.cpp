// What tracing costs a training: the median step of the real program on two ranks, traced against --trace off, in
// turns; phases and buckets alone (L0), and with top-level (L2) or all (L3) operators of models that have any.
#include "base/error.hpp"
#include "base/paired.hpp"
#include "base/testing.hpp"
#include "ddl-workloads/tests/train_runs.hpp"

#include <iostream>
#include <span>
#include <string>

namespace {

constexpr std::size_t pairs = 15;
constexpr int steps = 60;

double step_ms(const std::string& model, const testing::Words& tracing)
{
    const testing::Scratch scratch;
    testing::Words words{"--model", model, "--data", "synthetic[samples=640]", "--steps", std::to_string(steps)};
    words.insert(words.end(), tracing.begin(), tracing.end());
    const testing::TrainRun run = testing::train(2, scratch / "run", words);
    if (run.status != 0) base::fail("the training failed: ", run.err);
    return testing::median_step_ms(scratch / "run");
}

}  // namespace

int main(int argc, char** argv)
try {
    if (argc < 2) base::fail_usage("expects the models to measure");
    for (const std::string model : std::span{argv, static_cast<std::size_t>(argc)}.subspan(1)) {
        const auto step = [&](testing::Words tracing) { return [&model, tracing] { return step_ms(model, tracing); }; };
        for (const std::string level : {"L0", "L2", "L3"}) {
            if (level != "L0" && model.starts_with("emulated")) continue;
            const base::Paired result =
                base::measure_in_pairs(pairs, step({"--instrument", level}), step({"--trace", "off"}));
            std::cout << model << ": step traced (" << level << ") " << result.first.text() << " ms, untraced "
                      << result.second.text() << " ms, traced / untraced " << result.ratio.text() << std::endl;
        }
    }
} catch (...) {
    return base::report_failure("step-bench");
}
