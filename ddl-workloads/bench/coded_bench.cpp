// SPDX-License-Identifier: Apache-2.0
// Coded training with a rank that is late in every other step, which the others wait for or not, beside the same
// training undisturbed; and CPU time of encoding, decoding and checks beside that of the products.
#include "base/cli/options.hpp"
#include "base/error.hpp"
#include "testing/bench_rows.hpp"
#include "testing/paired.hpp"
#include "testing/testing.hpp"
#include "testing/train_runs.hpp"

#include <iostream>
#include <numeric>
#include <string>
#include <vector>

namespace {

using testing::operator+;
using testing::Words;

testing::BenchRows& rows()
{
    static testing::BenchRows all{"coded-bench"};
    return all;
}

// Mean time of a step, in ms, without the first ones.
double mean_step(int ranks, const Words& options)
{
    constexpr std::size_t warm_up = 10;
    const testing::Scratch scratch;
    const testing::TrainRun run = testing::train(ranks, scratch / "run", options + Words{"--trace", "off"});
    if (run.status != 0) base::fail("the training failed: ", run.err);
    const std::vector<testing::StepTime> steps = testing::steps_in(scratch / "run");
    const double ms = static_cast<double>(steps.back().end_ns - steps[warm_up].begin_ns) / 1e6;
    return ms / static_cast<double>(steps.size() - warm_up);
}

struct Late {
    std::string name;
    int ranks;
    Words work;
    std::string code;  // options of coded
    double at_most;    // of the time undisturbed, if the others do not wait for the late rank
};

void late_rank(const Late& job)
{
    constexpr std::size_t pairs = 15;
    const Words delay{"--delay", "3:forward:20ms:every=2"};
    const auto step = [&](const std::string& late, const Words& more) {
        const Words strategy{"--strategy", "coded[" + job.code + late + "]"};
        return [&job, options = job.work + strategy + more] { return mean_step(job.ranks, options); };
    };
    rows().add({.name = job.name + ", rank 3 late, `late=skip,spare=0`", .beside = "undisturbed", .unit = "ms"},
               testing::measure_in_pairs(pairs, step(",late=skip,spare=0", delay), step(",late=skip,spare=0", {})),
               testing::at_most(job.at_most));
    rows().add({.name = job.name + ", rank 3 late, `late=wait`", .beside = "undisturbed", .unit = "ms"},
               testing::measure_in_pairs(pairs, step("", delay), step("", {})));
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
                            "--steps", "100"},
                   .code = "code=polydot,t=1,s=2",
                   .at_most = 1.05});
    if (wanted("mlp"))
        late_rank({.name = "`mlp` by CodeNet, 11 ranks",
                   .ranks = 11,
                   .work = {"--model", "mlp", "--data", "digits", "--steps", "100"},
                   .code = "grid=3x2,parity=1x1",
                   .at_most = 1.10});
    if (wanted("cost")) cost();
} catch (...) {
    return base::report_failure("coded-bench");
}
