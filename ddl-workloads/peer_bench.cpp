// Steps of the real program against steps of its peers, in turns: PyTorch's DistributedDataParallel in Python, the same
// training without any exchange, and Horovod's design against DDP's.
#include "base/error.hpp"
#include "base/options.hpp"
#include "base/paired.hpp"
#include "base/testing.hpp"
#include "base/words.hpp"
#include "ddl-workloads/tests/train_runs.hpp"

#include <algorithm>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

namespace {

constexpr std::size_t pairs = 15;
constexpr int steps = 60;
constexpr int warm_up = 10;

using testing::Words;

struct Work {
    std::string name;
    Words ours;  // model, data and batch as options of ddl-train
    Words peer;  // the same as options of peers/ddp.py
    double at_most = 0.0;
};

const std::vector<Work>& works()
{
    static const std::vector<Work> all{
        {.name = "ResNet-18, width 32, batch 8",
         .ours = {"--model", "resnet18[width=32]", "--data", "synthetic[samples=1280]", "--batch", "8"},
         .peer = {"--model", "resnet18", "--width", "32", "--batch", "8"},
         .at_most = 0.90},
        {.name = "GPT, 4 layers, batch 4",
         .ours = {"--model", "gpt", "--data", "text[path=/usr/share/common-licenses/GPL-3,length=128]", "--batch", "4"},
         .peer = {"--model", "gpt", "--length", "128", "--batch", "4"},
         .at_most = 0.96},
    };
    return all;
}

// In ms, of rank 0, as are the peer's.
double our_step(int ranks, const Words& work, const std::string& strategy)
{
    const testing::Scratch scratch;
    Words options{"--strategy", strategy, "--steps", std::to_string(steps), "--trace", "off"};
    options.insert(options.end(), work.begin(), work.end());
    const auto run =
        ranks > 1 ? testing::train(ranks, scratch / "run", options) : testing::train_alone(scratch / "run", options);
    if (run.status != 0) base::fail("the training failed: ", run.err);
    return testing::median_step_ms(scratch / "run");
}

double peers_step(const std::string& script, int ranks, const Words& work)
{
    const testing::Scratch scratch;
    Words command{"env", "OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1"};
    if (ranks > 1)
        command.insert(command.end(), {"mpirun", "-n", std::to_string(ranks), "--oversubscribe", "--bind-to", "none"});
    command.insert(command.end(),
                   {"/usr/bin/python3", script, "--steps", std::to_string(steps), "--store", scratch / "store"});
    command.insert(command.end(), work.begin(), work.end());
    const testing::Outcome outcome = testing::run(command);
    if (outcome.status != 0) base::fail("the peer failed: ", outcome.err);
    std::vector<double> ms;
    int step = 0;
    for (const std::string& line : base::split(outcome.out, '\n'))
        if (!line.empty() && step++ >= warm_up) ms.push_back(base::parse<double>(line));
    return base::median(ms).value;
}

void compare(const std::string& what, const std::string& beside, double at_most, const std::function<double()>& first,
             const std::function<double()>& second)
{
    const base::Paired found = base::measure_in_pairs(pairs, first, second);
    std::cout << what << " " << found.first.text() << " ms; " << beside << " " << found.second.text() << " ms; ratio "
              << found.ratio.text() << " (at most " << at_most << ")" << std::endl;
}

}  // namespace

int main(int argc, char** argv)
try {
    std::vector<std::string> chosen;
    std::string script;
    std::string only;
    base::Options options{"peer-bench", "ddl-train beside PyTorch in Python, and strategies beside one another"};
    options.add("script", script, "peers/ddp.py");
    options.add("only", only, "beside Python this model alone: resnet18 or gpt");
    options.add_positional("part", chosen, "python, alone, exchange, cycle: by default all", 0);
    if (!options.parse(argc, argv)) return 0;
    const auto wanted = [&](const std::string& part) {
        return chosen.empty() || std::find(chosen.begin(), chosen.end(), part) != chosen.end();
    };
    const bool python = testing::run({"/usr/bin/python3", "-c", "import torch"}).status == 0;
    if (!python) std::cout << "beside Python: not shown, there is no PyTorch (package python3-torch)" << std::endl;
    for (const Work& work : works()) {
        if (!only.empty() && work.peer[1] != only) continue;
        if (python && wanted("python"))
            compare(
                work.name + ", two ranks: ddp over MPI", "Python, DDP over Gloo", work.at_most,
                [&] { return our_step(2, work.ours, "ddp"); }, [&] { return peers_step(script, 2, work.peer); });
        if (python && wanted("alone"))
            compare(
                work.name + ", one process: ddl-train", "Python", 1.02, [&] { return our_step(1, work.ours, "none"); },
                [&] { return peers_step(script, 1, work.peer); });
    }
    const Words& resnet = works().front().ours;
    if (wanted("exchange"))
        compare(
            "ResNet-18, two ranks: ddp", "no exchange", 1.05, [&] { return our_step(2, resnet, "ddp"); },
            [&] { return our_step(2, resnet, "none"); });
    if (wanted("cycle"))
        compare(
            "ResNet-18, two ranks: cycle", "ddp", 1.10, [&] { return our_step(2, resnet, "cycle"); },
            [&] { return our_step(2, resnet, "ddp"); });
} catch (...) {
    return base::report_failure("peer-bench");
}
