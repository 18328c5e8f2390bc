// What tracing costs a training: the median step of the real program on two ranks, traced against --trace off, in
// turns; phases and buckets alone (L0), and with top-level (L2) or all (L3) operators of models that have any.
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/paired.hpp"
#include "base/testing.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

namespace {

constexpr std::size_t pairs = 15;
constexpr int steps = 60;
constexpr std::int64_t warm_up = 10;

// In ms, of rank 0, warm-up left out.
double median_step_ms(const std::string& program, const std::string& model, const std::vector<std::string>& tracing)
{
    const testing::Scratch scratch;
    std::vector<std::string> words{"mpirun", "-n", "2", "--oversubscribe", "--bind-to", "none", program};
    words.insert(words.end(), {"--model", model, "--data", "synthetic[samples=640]", "--steps", std::to_string(steps)});
    words.insert(words.end(), {"--out", scratch / "run"});
    words.insert(words.end(), tracing.begin(), tracing.end());
    const testing::Outcome outcome = testing::run(words);
    if (outcome.status != 0) base::fail("the training failed: ", outcome.err);
    const base::CsvTable rows{scratch / "run/train/steps.csv"};
    std::vector<double> ms;
    for (std::size_t row = 0; row < rows.rows(); ++row)
        if (rows.get<int>(row, "rank") == 0 && rows.get<std::int64_t>(row, "step") >= warm_up)
            ms.push_back(
                static_cast<double>(rows.get<std::int64_t>(row, "end_ns") - rows.get<std::int64_t>(row, "begin_ns")) /
                1e6);
    return base::median(ms).value;
}

}  // namespace

int main(int argc, char** argv)
try {
    if (argc < 3) base::fail_usage("expects the path of ddl-train and the models to measure");
    for (int i = 2; i < argc; ++i) {
        const std::string model = argv[i];
        const auto step = [&](std::vector<std::string> tracing) {
            return [&model, argv, tracing] { return median_step_ms(argv[1], model, tracing); };
        };
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
