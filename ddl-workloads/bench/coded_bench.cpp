// SPDX-License-Identifier: Apache-2.0
// Coded training with a rank that is late in every other step, which the others wait for or not, in turns with the
// undelayed training; and CPU time of encoding, decoding and checks beside that of the products. On fewer cores than
// ranks the others compute while one sleeps, so late=wait costs less than on nodes of their own.
#include "base/cli/options.hpp"
#include "base/contract/code_tables.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "testing/bench_rows.hpp"
#include "testing/paired.hpp"
#include "testing/testing.hpp"
#include "testing/train_runs.hpp"

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using testing::operator+;
using testing::Words;

testing::BenchRows& rows()
{
    static testing::BenchRows all{"coded-bench"};
    return all;
}

constexpr double delay_ms = 20.0;
const Words delayed{"--delay", "3:forward:20ms:every=2"};
constexpr std::size_t warm_up = 30;  // steps; thresholds are calibrated in the first 20

// The sum of saved_ns over that of the delays, in the steps that are timed.
double saved_of_delays(const std::filesystem::path& run)
{
    const base::CsvTable rows{run / "train" / base::code::products_table};
    double saved_ms = 0.0;
    std::set<std::int64_t> delayed_steps;
    for (std::size_t row = 0; row < rows.rows(); ++row) {
        const auto step = rows.get<std::int64_t>(row, "step");
        if (std::cmp_less(step, warm_up)) continue;
        saved_ms += rows.get<double>(row, "saved_ns") / 1e6;
        if (step % 2 == 0) delayed_steps.insert(step);
    }
    return saved_ms / (delay_ms * static_cast<double>(delayed_steps.size()));
}

struct Job {
    std::string name;
    int ranks;
    Words work;
    std::string code;  // options of coded
    double at_most;    // of the undelayed time, if the others do not wait for the late rank
    bool sleeps;       // instead of multiplying: ranks do not take turns on the cores
};

// A function that trains and returns the mean time of a step in ms; in `saved`, if given, saved_of_delays().
auto training(const Job& job, const std::string& late, const Words& more, std::vector<double>* saved = nullptr)
{
    return [&job, options = job.work + Words{"--strategy", "coded[" + job.code + late + "]", "--trace", "off"} + more,
            saved] {
        const testing::Scratch scratch;
        const testing::TrainRun run = testing::train(job.ranks, scratch / "run", options);
        if (run.status != 0) base::fail("the training failed: ", run.err);
        if (saved != nullptr) saved->push_back(saved_of_delays(scratch / "run"));
        const std::vector<testing::StepTime> steps = testing::steps_in(scratch / "run");
        const double ms = static_cast<double>(steps.back().end_ns - steps.at(warm_up).begin_ns) / 1e6;
        return ms / static_cast<double>(steps.size() - warm_up);
    };
}

void late_rank(const Job& job)
{
    constexpr std::size_t pairs = 15;
    const std::string skip = ",late=skip,spare=0";
    const auto row = [&](const std::string& name) {
        return testing::BenchRows::Case{
            .name = job.name + ", " + name, .beside = "undelayed, `late=wait`", .unit = "ms"};
    };
    const auto undelayed = training(job, "", {});
    const auto late = [&](const std::string& name, const std::string& options, const std::optional<testing::Aim>& aim) {
        std::vector<double> saved;
        rows().add(row("rank 3 late, " + name),
                   testing::measure_in_pairs(pairs, training(job, options, delayed, &saved), undelayed), aim);
        const testing::Median share = testing::median(saved);
        rows().add({.name = job.name + ", " + name + ", `saved_ns` / delays"}, share);
        if (job.sleeps)
            rows().add({.name = job.name + ", " + name + ", `saved_ns` apart from delays"}, std::abs(share.value - 1.0),
                       testing::at_most(0.15));
    };
    late("`late=skip`", skip, testing::at_most(job.at_most));
    late("`late=wait`", "", {});
    rows().add(row("undelayed, `late=skip`"), testing::measure_in_pairs(pairs, training(job, skip, {}), undelayed));
}

void cost()
{
    const testing::Scratch scratch;
    const testing::TrainRun run = testing::train(
        11, scratch / "run",
        {"--model", "mlp[hidden=2048]", "--data", "digits", "--batch", "64", "--lr", "0.001", "--steps",
         std::to_string(testing::rounds(100)), "--trace", "off", "--strategy", "coded[grid=3x2,parity=1x1]"});
    if (run.status != 0) base::fail("the training failed: ", run.err);
    const auto& cpu = run.result.at("code").at("cpu_ms");
    const auto ms = [&](const char* region) { return cpu.at(region).get<double>(); };
    const double ratio = (ms("encode") + ms("decode") + ms("probe")) / ms("product");
    rows().add({.name = "CPU time of encoding, decoding and checks, `mlp[hidden=2048]`, batch 64",
                .beside = "that of products"},
               ratio, testing::at_most(0.10));
}

}  // namespace

int main(int argc, char** argv)
try {
    base::Options options{"coded-bench", "what late ranks and codes cost a coded training"};
    std::string only = "all";
    options.add_choice("only", only, {"all", "product", "mlp", "cost"}, "what to measure");
    if (!options.parse(argc, argv)) return 0;
    const auto wanted = [&](const char* part) { return only == "all" || only == part; };
    if (wanted("product"))  // each rank computes half of the product, in 20 ms
        late_rank({.name = "product by MatDot, 4 ranks",
                   .ranks = 4,
                   .work = {"--model", "product[rows=256,inner=256,columns=256,compute=40ms]", "--data", "digits",
                            "--steps", "130"},
                   .code = "code=polydot,t=1,s=2",
                   .at_most = 1.05,
                   .sleeps = true});
    if (wanted("mlp"))
        late_rank({.name = "`mlp[hidden=1024]` by CodeNet, 11 ranks",
                   .ranks = 11,
                   .work = {"--model", "mlp[hidden=1024]", "--data", "digits", "--batch", "64", "--lr", "0.01",
                            "--steps", "130"},
                   .code = "grid=3x2,parity=1x1",
                   .at_most = 1.10,
                   .sleeps = false});
    if (wanted("cost")) cost();
} catch (...) {
    return base::report_failure("coded-bench");
}
