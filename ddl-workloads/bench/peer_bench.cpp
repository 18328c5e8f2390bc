// Steps of the real program against steps of its peers: PyTorch's DistributedDataParallel in Python, the same training
// without any exchange, and Horovod's design against DDP's. Both trainings are there all the time and take turns, in
// which the other one is stopped: runs after one another would compare minutes in which the machine was not the same.
#include "base/cli/options.hpp"
#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "base/words.hpp"
#include "testing/paired.hpp"
#include "testing/testing.hpp"
#include "testing/train_runs.hpp"

#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <iostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using testing::StepTime;
using testing::Words;

constexpr std::size_t pairs = 30;
constexpr auto turn_length = std::chrono::seconds{3};
constexpr std::size_t warm_up = 20;  // steps
constexpr auto poll = std::chrono::milliseconds{50};

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

// What the peer has printed by now; MPI's own words may lie between.
std::vector<StepTime> printed_steps(const std::filesystem::path& log)
{
    std::vector<StepTime> steps;
    std::ifstream file{log};
    for (std::string line; std::getline(file, line);) {
        std::istringstream words{line};
        StepTime step;
        if (words >> step.begin_ns >> step.end_ns) steps.push_back(step);
    }
    return steps;
}

// A training without an end, which runs in its turns only.
class Contender {
 public:
    static Contender ours(int ranks, const Words& work, const std::string& strategy);
    static Contender peer(const std::string& script, int ranks, const Words& work);

    // The median of the steps that lie in this turn as a whole, in ms. A machine that stands still for so long gets
    // another one.
    double turn()
    {
        constexpr int attempts = 5;
        constexpr std::size_t enough = 3;
        for (int i = 0; i < attempts; ++i) {
            std::vector<double> ms = steps_of_a_turn();
            if (ms.size() < enough) continue;
            const auto middle = ms.begin() + static_cast<std::ptrdiff_t>(ms.size() / 2);
            std::nth_element(ms.begin(), middle, ms.end());
            return *middle;
        }
        base::fail("a training makes no steps in its turns");
    }

 private:
    Contender(std::unique_ptr<testing::Scratch> scratch, std::unique_ptr<testing::RunningJob> job,
              std::function<std::vector<StepTime>()> steps);

    std::vector<double> steps_of_a_turn()
    {
        const std::int64_t begin_ns = base::now_ns();
        signal(SIGCONT);
        std::this_thread::sleep_for(turn_length);
        signal(SIGSTOP);
        std::this_thread::sleep_for(poll);  // what was printed is on its way
        std::vector<double> ms;
        for (const StepTime& step : steps_())
            if (step.begin_ns > begin_ns) ms.push_back(step.ms());
        return ms;
    }

    void signal(int number) const
    {
        for (const pid_t rank : job_->ranks()) base::check_errno(::kill(rank, number), "signal a rank");
    }

    std::unique_ptr<testing::Scratch> scratch_;
    std::unique_ptr<testing::RunningJob> job_;
    std::function<std::vector<StepTime>()> steps_;
};

Contender::Contender(std::unique_ptr<testing::Scratch> scratch, std::unique_ptr<testing::RunningJob> job,
                     std::function<std::vector<StepTime>()> steps)
    : scratch_{std::move(scratch)}, job_{std::move(job)}, steps_{std::move(steps)}
{
    while (steps_().size() < warm_up) {
        if (!testing::runs(job_->launcher())) base::fail("a training ended at once");
        std::this_thread::sleep_for(poll);
    }
    signal(SIGSTOP);
}

Contender Contender::ours(int ranks, const Words& work, const std::string& strategy)
{
    auto scratch = std::make_unique<testing::Scratch>();
    const std::filesystem::path out = *scratch / "run";
    Words options{"--transport", ranks > 1 ? "mpi" : "self", "--strategy", strategy, "--steps", "1000000", "--trace",
                  "off"};
    options.insert(options.end(), work.begin(), work.end());
    auto job = std::make_unique<testing::RunningTraining>(ranks, out, options);
    job->wait_for_steps();
    return {std::move(scratch), std::move(job), [out] { return testing::steps_in(out); }};
}

Contender Contender::peer(const std::string& script, int ranks, const Words& work)
{
    auto scratch = std::make_unique<testing::Scratch>();
    const std::filesystem::path log = *scratch / "log";
    Words command{"/usr/bin/python3", script, "--store", *scratch / "store"};
    command.insert(command.end(), work.begin(), work.end());
    auto job = std::make_unique<testing::RunningJob>(ranks, command, log);
    return {std::move(scratch), std::move(job), [log] { return printed_steps(log); }};
}

void compare(const std::string& what, const std::string& beside, double at_most, Contender first, Contender second)
{
    const testing::Paired found = testing::measure_in_pairs(
        pairs, [&] { return first.turn(); }, [&] { return second.turn(); });
    std::cout << what << " " << found.first.text() << " ms; " << beside << " " << found.second.text() << " ms; ratio "
              << found.ratio.text() << " (at most " << at_most << ")" << std::endl;
}

struct Bench {
    std::string script;
    std::string only = "both";
};

std::vector<Work> works_beside_python(const Bench& bench)
{
    std::vector<Work> chosen;
    if (testing::run({"/usr/bin/python3", "-c", "import torch"}).status != 0) {
        std::cout << "beside Python: not shown, there is no PyTorch (package python3-torch)" << std::endl;
        return chosen;
    }
    for (const Work& work : works())
        if (bench.only == "both" || bench.only == work.peer[1]) chosen.push_back(work);
    return chosen;
}

void python(const Bench& bench)
{
    for (const Work& work : works_beside_python(bench))
        compare(work.name + ", two ranks: ddp over MPI", "Python, DDP over Gloo", work.at_most,
                Contender::ours(2, work.ours, "ddp"), Contender::peer(bench.script, 2, work.peer));
}

void alone(const Bench& bench)
{
    for (const Work& work : works_beside_python(bench))
        compare(work.name + ", one process: ddl-train", "Python", 1.02, Contender::ours(1, work.ours, "none"),
                Contender::peer(bench.script, 1, work.peer));
}

void exchange(const Bench&)
{
    const Words& resnet = works().front().ours;
    compare("ResNet-18, two ranks: ddp", "no exchange", 1.05, Contender::ours(2, resnet, "ddp"),
            Contender::ours(2, resnet, "none"));
}

void cycle(const Bench&)
{
    const Words& resnet = works().front().ours;
    compare("ResNet-18, two ranks: cycle", "ddp", 1.10, Contender::ours(2, resnet, "cycle"),
            Contender::ours(2, resnet, "ddp"));
}

}  // namespace

int main(int argc, char** argv)
try {
    std::vector<std::pair<std::string, void (*)(const Bench&)>> parts{
        {"python", python}, {"alone", alone}, {"exchange", exchange}, {"cycle", cycle}};
    Bench bench;
    base::Options options{"peer-bench", "ddl-train beside PyTorch in Python, and strategies beside one another"};
    options.add("script", bench.script, "peers/ddp.py");
    options.add_choice("only", bench.only, {"resnet18", "gpt", "both"}, "beside Python this model alone");
    options.add_parts("part", parts);
    if (!options.parse(argc, argv)) return 0;
    for (const auto& [name, measure] : parts) measure(bench);
} catch (...) {
    return base::report_failure("peer-bench");
}
