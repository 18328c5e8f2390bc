// What tracing costs a training: the median step of the real program on two ranks, traced against --trace off, in
// turns.
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
double median_step_ms(const std::string& program, const std::string& model, const std::string& trace)
{
    const testing::Scratch scratch;
    const testing::Outcome outcome = testing::run({"mpirun", "-n", "2", "--oversubscribe", "--bind-to", "none", program,
                                                   "--model", model, "--data", "synthetic[samples=640]", "--steps",
                                                   std::to_string(steps), "--trace", trace, "--out", scratch / "run"});
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
        const auto step = [&](const char* trace) { return [=] { return median_step_ms(argv[1], argv[i], trace); }; };
        const base::Paired result = base::measure_in_pairs(pairs, step("on"), step("off"));
        std::cout << argv[i] << ": step traced " << result.first.text() << " ms, untraced " << result.second.text()
                  << " ms, traced / untraced " << result.ratio.text() << std::endl;
    }
} catch (...) {
    return base::report_failure("step-bench");
}
