// SPDX-License-Identifier: Apache-2.0
// Whole runs of the real program on one GPU, in rounds: the cost of tracing, a comparison with PyTorch's
// DistributedDataParallel over NCCL in Python, and the gain from CUDA graphs.
#include "base/cli/options.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/gpu/cuda_driver.hpp"
#include "base/programs/child.hpp"
#include "testing/bench_rows.hpp"
#include "testing/paired.hpp"
#include "testing/testing.hpp"
#include "testing/train_runs.hpp"

#include <functional>
#include <iostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

using testing::operator+;
using testing::Words;

constexpr std::size_t steps = 90;
constexpr std::size_t warm_up = 30;
constexpr std::size_t rounds = 6;  // fewest rounds for which an interval can be computed

struct Bench {
    std::string script;
    std::string python = "python3";
    testing::BenchRows rows{"on a GPU"};
};

// Mean time of a step in ms, from the first measured step to the end of the last (the host runs ahead of the GPU, so
// single steps are not meaningful).
double step_ms(const std::vector<testing::StepTime>& all)
{
    if (all.size() != steps) base::fail("a training made ", all.size(), " steps and not ", steps);
    return static_cast<double>(all.back().end_ns - all[warm_up].begin_ns) / 1e6 / static_cast<double>(steps - warm_up);
}

using Contender = std::function<double()>;

Contender ours(const Words& options)
{
    return [options] {
        const testing::Scratch scratch;
        const testing::Outcome outcome = testing::run(Words{CROSSTALK_BIN "/ddl-train", "--out", scratch / "run",
                                                            "--device", "cuda", "--steps", std::to_string(steps)} +
                                                      options);
        if (outcome.status != 0) base::fail("the training failed: ", outcome.err);
        return step_ms(testing::steps_in(scratch / "run"));
    };
}

Contender in_python(const Bench& bench, const Words& options)
{
    return [&bench, options] {
        const testing::Scratch scratch;
        const testing::Outcome outcome = testing::run(Words{bench.python, bench.script, "--device", "cuda", "--store",
                                                            scratch / "store", "--steps", std::to_string(steps)} +
                                                      options);
        if (outcome.status != 0) base::fail("the training in Python failed: ", outcome.err);
        std::istringstream lines{outcome.out};
        std::vector<testing::StepTime> all;
        for (testing::StepTime step; lines >> step.begin_ns >> step.end_ns;) all.push_back(step);
        return step_ms(all);
    };
}

// Runs the contenders in turn: one value per round for each contender.
std::vector<std::vector<double>> in_rounds(const std::vector<Contender>& contenders)
{
    std::vector<std::vector<double>> found(contenders.size());
    for (std::size_t round = 0; round < rounds; ++round)
        for (std::size_t i = 0; i < contenders.size(); ++i) {
            const std::size_t one = (i + round) % contenders.size();
            found[one].push_back(contenders[one]());
        }
    return found;
}

void tracing(Bench& bench)
{
    const Words work{"--model", "resnet50",   "--data", "synthetic[samples=32000]", "--batch", "64", "--transport",
                     "self",    "--strategy", "ddp"};
    const auto found = in_rounds({ours(work + Words{"--trace", "off"}), ours(work), ours(work + Words{"--trace-gpu"})});
    const auto row = [&](const std::string& name, std::size_t one, double at_most) {
        bench.rows.add({.name = name + ", ResNet-50, batch 64", .beside = "`--trace off`", .unit = "ms"},
                       testing::paired(found[one], found[0]), testing::at_most(at_most));
    };
    row("phases and buckets (L0)", 1, 1.01);
    row("what the GPU did (`--trace-gpu`), too", 2, 1.05);
}

void peer(Bench& bench)
{
    struct Work {
        std::string name;
        Words ours;
        Words python;
    };
    const std::vector<Work> works{
        {"ResNet-18, batch 128",
         {"--model", "resnet18", "--data", "synthetic[samples=32000]", "--batch", "128"},
         {"--model", "resnet18", "--batch", "128"}},
        {"GPT, 4 layers, batch 32",
         {"--model", "gpt", "--data", "text[path=" + bench.script + ",length=128]", "--batch", "32"},
         {"--model", "gpt", "--length", "128", "--batch", "32"}}};
    for (const Work& work : works) {
        const auto found =
            in_rounds({ours(work.ours + Words{"--strategy", "ddp", "--transport", "nccl", "--trace", "off"}),
                       in_python(bench, work.python)});
        bench.rows.add({.name = work.name + ": `ddp` over `nccl`", .beside = "Python, DDP over NCCL", .unit = "ms"},
                       testing::paired(found[0], found[1]), testing::at_most(1.0));
    }
}

void graphs(Bench& bench)
{
    const Words work{"--model",    "resnet18", "--data",      "synthetic[samples=32000]",
                     "--batch",    "8",        "--transport", "self",
                     "--strategy", "none",     "--trace",     "off"};
    const auto found = in_rounds({ours(work + Words{"--cuda-graphs"}), ours(work)});
    bench.rows.add({.name = "ResNet-18, batch 8, `--cuda-graphs`", .beside = "without", .unit = "ms"},
                   testing::paired(found[0], found[1]));
}

}  // namespace

int main(int argc, char** argv)
try {
    std::vector<std::pair<std::string, void (*)(Bench&)>> parts{
        {"tracing", tracing}, {"peer", peer}, {"graphs", graphs}};
    Bench bench;
    base::Options options{"gpu-bench", "whole runs of ddl-train on one GPU"};
    options.add("script", bench.script, "peers/ddp.py");
    options.add("python", bench.python, "a Python with torch for CUDA");
    options.add_parts("part", parts);
    if (!options.parse(argc, argv)) return 0;
    if (base::cuda::devices() == 0) base::unavailable("no GPU");
    for (const auto& [name, measure] : parts) measure(bench);
} catch (...) {
    return base::report_failure("gpu-bench");
}
