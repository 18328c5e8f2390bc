// SPDX-License-Identifier: Apache-2.0
// Whole runs of the real program compared with its peers: PyTorch's DistributedDataParallel in Python, the same
// training without any exchange, and progress policies and strategies with each other; alone on two CPUs, and with
// another process on one of them. The runs of a group are repeated in rounds and compared within each round, since a
// machine's speed drifts over minutes.
#include "base/cli/options.hpp"
#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/programs/child.hpp"
#include "base/system/clock.hpp"
#include "base/system/cpus.hpp"
#include "testing/bench_rows.hpp"
#include "testing/paired.hpp"
#include "testing/testing.hpp"
#include "testing/train_runs.hpp"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

using testing::operator+;
using testing::Words;

constexpr std::size_t full_rounds = 15;
constexpr std::size_t warm_up = 8;  // steps left out of each run

bool quick()
{
    return testing::rounds(full_rounds) < full_rounds;
}

std::size_t steps_of_a_run()
{
    return quick() ? 28 : 110;
}

struct Work {
    std::string name;
    Words ours;                  // options of ddl-train for model, data and batch
    Words peer;                  // options of peers/ddp.py for the same
    double beside_python = 0.0;  // largest accepted ratio to Python's time
};

const Work resnet{.name = "ResNet-18, width 32, batch 8",
                  .ours = {"--model", "resnet18[width=32]", "--data", "synthetic[samples=1280]", "--batch", "8"},
                  .peer = {"--model", "resnet18", "--width", "32", "--batch", "8"},
                  .beside_python = 0.85};
const Work gpt{
    .name = "GPT, 4 layers, batch 4",
    .ours = {"--model", "gpt", "--data", "text[path=/usr/share/common-licenses/GPL-3,length=128]", "--batch", "4"},
    .peer = {"--model", "gpt", "--length", "128", "--batch", "4"},
    .beside_python = 0.90};

// Mean times of a run's steps in ms, without warm-up. A bucket is summed only when all ranks have it, so the wait for a
// rank that computes longer is not a cost of the exchange itself.
struct Steps {
    double step = 0.0;          // on rank 0
    double later_rank = 0.0;    // from a rank's last gradient to the last rank's, mean over ranks
    double own_exchange = 0.0;  // the rest of the phase wait_exchange
    double beyond_wait() const { return step - later_rank; }
};

double mean(const std::vector<double>& values)
{
    double sum = 0.0;
    for (const double value : values) sum += value;
    if (values.empty()) base::fail("a training made too few steps");
    return sum / static_cast<double>(values.size());
}

struct Row {
    double step_ms = 0.0;
    double ready_ns = 0.0;  // when all gradients of this rank are complete
    double wait_ns = 0.0;   // from then until the gradients are averaged
};

Row row_of(const base::CsvTable& rows, std::size_t row)
{
    const auto ns = [&](const std::string& column) { return static_cast<double>(rows.get<std::int64_t>(row, column)); };
    Row of{.step_ms = (ns("end_ns") - ns("begin_ns")) / 1e6,
           .ready_ns = ns("begin_ns"),
           .wait_ns = ns("wait_exchange_ns")};
    for (const char* phase : {"load_ns", "to_device_ns", "forward_ns", "backward_ns"}) of.ready_ns += ns(phase);
    return of;
}

Steps steps_of(const std::filesystem::path& out, int ranks)
{
    const base::CsvTable table{out / "train/steps.csv"};
    std::vector<std::vector<Row>> steps;  // by step, then by rank
    for (std::size_t row = 0; row < table.rows(); ++row) {
        const auto step = static_cast<std::size_t>(table.get<std::int64_t>(row, "step"));
        steps.resize(std::max(steps.size(), step + 1));
        auto& of_step = steps[step];
        const bool first = table.get<int>(row, "rank") == 0;
        of_step.insert(first ? of_step.begin() : of_step.end(), row_of(table, row));
    }
    std::vector<double> step_ms;
    std::vector<double> later;
    std::vector<double> own;
    for (std::size_t step = warm_up; step < steps.size(); ++step) {
        if (steps[step].size() != static_cast<std::size_t>(ranks)) continue;
        double last_ready = 0.0;
        for (const Row& rank : steps[step]) last_ready = std::max(last_ready, rank.ready_ns);
        step_ms.push_back(steps[step].front().step_ms);
        for (const Row& rank : steps[step]) {
            const double waits = std::min(last_ready - rank.ready_ns, rank.wait_ns);
            later.push_back(waits / 1e6);
            own.push_back((rank.wait_ns - waits) / 1e6);
        }
    }
    return {.step = mean(step_ms), .later_rank = mean(later), .own_exchange = mean(own)};
}

// -------------------------------------------------------------------------------------------------------- contenders

struct Contender {
    std::string name;
    std::function<Steps()> run;
    std::vector<Steps> found = {};

    std::vector<double> all(double Steps::*what) const
    {
        std::vector<double> values;
        for (const Steps& one : found) values.push_back(one.*what);
        return values;
    }
    std::vector<double> beyond_wait() const
    {
        std::vector<double> values;
        for (const Steps& one : found) values.push_back(one.beyond_wait());
        return values;
    }
};

Contender ours(const std::string& name, int ranks, const Work& work, const Words& how)
{
    const auto run = [ranks, work, how] {
        const testing::Scratch scratch;
        Words options{"--transport", ranks > 1 ? "mpi" : "self",      "--trace", "off",
                      "--steps",     std::to_string(steps_of_a_run())};
        options = options + work.ours + how;
        const testing::TrainRun done = testing::train(ranks, scratch / "run", options);
        if (done.status != 0) base::fail("the training failed: ", done.err);
        return steps_of(scratch / "run", ranks);
    };
    return {.name = name, .run = run};
}

Contender python(const std::string& script, int ranks, const Work& work)
{
    const auto run = [script, ranks, work] {
        const testing::Scratch scratch;
        const std::filesystem::path log = scratch / "log";
        const Words command{"/usr/bin/python3", script,    "--store",
                            scratch / "store",  "--steps", std::to_string(steps_of_a_run())};
        testing::RunningJob job{ranks, command + work.peer, log};
        if (job.wait() != 0) base::fail("the training in Python failed");
        std::vector<double> ms;
        std::ifstream file{log};
        for (std::string line; std::getline(file, line);) {  // MPI's own messages may be among the lines
            std::istringstream words{line};
            testing::StepTime step;
            if (words >> step.begin_ns >> step.end_ns) ms.push_back(step.ms());
        }
        ms.erase(ms.begin(), ms.begin() + static_cast<std::ptrdiff_t>(std::min(warm_up, ms.size())));
        return Steps{.step = mean(ms)};
    };
    return {.name = "Python, DDP over Gloo", .run = run};
}

void run_in_rounds(std::vector<Contender>& contenders)
{
    const std::size_t rounds = testing::rounds(full_rounds);
    for (std::size_t round = 0; round < rounds; ++round)
        for (std::size_t i = 0; i < contenders.size(); ++i) {
            Contender& one = contenders[(i + round) % contenders.size()];
            one.found.push_back(one.run());
        }
}

// A process that only occupies the first of these CPUs, by running this shell script.
std::unique_ptr<base::Child> third_process(const base::CpuSet& cpus, const std::string& script)
{
    return std::make_unique<base::Child>(
        base::Launch{.words = {"taskset", "-c", base::format_cpus({*cpus.begin()}), "sh", "-c", script}});
}

// ------------------------------------------------------------------------------------------------------- comparisons

struct Bench {
    std::string script;
    bool python = false;
    base::CpuSet cpus;
    testing::BenchRows rows{"whole trainings"};

    void compare(const std::string& what, const Contender& one, const Contender& other,
                 const std::optional<testing::Aim>& aim = {})
    {
        rows.add({.name = what + ": " + one.name, .beside = other.name, .unit = "ms"},
                 testing::paired(one.all(&Steps::step), other.all(&Steps::step)), aim);
    }
    // The same comparison without the time that ranks wait for the later one.
    void compare_beyond_wait(const std::string& what, const Contender& one, const Contender& other,
                             const std::optional<testing::Aim>& aim)
    {
        rows.add({.name = what + ": " + one.name + " without the wait for the later rank",
                  .beside = other.name,
                  .unit = "ms"},
                 testing::paired(one.beyond_wait(), other.all(&Steps::step)), aim);
        rows.add({.name = what + ": " + one.name + ", a step's wait for the later rank", .unit = "ms"},
                 testing::median(one.all(&Steps::later_rank)));
        rows.add({.name = what + ": " + one.name + ", what else it waits for the exchange", .unit = "ms"},
                 testing::median(one.all(&Steps::own_exchange)));
    }
};

void exchange(Bench& bench)
{
    const std::string what = resnet.name + ", two ranks";
    std::vector<Contender> all{ours("`none`", 2, resnet, {"--strategy", "none"}),
                               ours("`ddp`", 2, resnet, {"--strategy", "ddp"}),
                               ours("`cycle`", 2, resnet, {"--strategy", "cycle"})};
    if (bench.python) all.push_back(python(bench.script, 2, resnet));
    const std::size_t first_way = all.size();
    if (!quick())
        for (const char* progress : {"spin", "yield", "sleep=50us"})
            all.push_back(ours(base::join("`ddp --progress ", progress, "`"), 2, resnet,
                               {"--strategy", "ddp", "--progress", progress}));
    run_in_rounds(all);
    const Contender& ddp = all[1];
    bench.compare(what, ddp, all[0]);
    bench.compare_beyond_wait(what, ddp, all[0], testing::at_most(1.05));
    if (bench.python) bench.compare(what, ddp, all[3], testing::at_most(resnet.beside_python));
    bench.compare(what, all[2], ddp, testing::at_most(1.03));
    for (std::size_t i = first_way; i < all.size(); ++i) bench.compare(what, all[i], all[0]);
}

void beside_third_process(Bench& bench, const Work& work, const std::string& how, const std::string& script)
{
    const std::unique_ptr<base::Child> third = third_process(bench.cpus, script);
    std::vector<Contender> all{ours("`ddp`", 2, work, {"--strategy", "ddp"}), python(bench.script, 2, work)};
    if (!quick()) all.push_back(ours("`ddp --progress yield`", 2, work, {"--strategy", "ddp", "--progress", "yield"}));
    run_in_rounds(all);
    const std::string what = work.name + ", two ranks, a third process " + how;
    bench.compare(what, all[0], all[1], testing::at_most(1.0));
    if (!quick()) bench.compare(what, all[2], all[1]);
}

const std::string always = "while :; do :; done";  // endless loop of the third process

void shared(Bench& bench)
{
    if (!bench.python) return;
    beside_third_process(bench, resnet, "on one of the CPUs", always);
}

void shared_transformer(Bench& bench)
{
    if (bench.python) beside_third_process(bench, gpt, "on one of the CPUs", always);
}

void shared_now_and_then(Bench& bench)
{
    if (bench.python && !quick())
        beside_third_process(bench, resnet, "on one of the CPUs in every other second",
                             "while :; do timeout 1 sh -c '" + always + "'; sleep 1; done");
}

void transformer(Bench& bench)
{
    std::vector<Contender> all{ours("`none`", 2, gpt, {"--strategy", "none"}),
                               ours("`ddp`", 2, gpt, {"--strategy", "ddp"})};
    if (bench.python) all.push_back(python(bench.script, 2, gpt));
    run_in_rounds(all);
    const std::string what = gpt.name + ", two ranks";
    bench.compare(what, all[1], all[0]);
    bench.compare_beyond_wait(what, all[1], all[0], {});
    if (bench.python) bench.compare(what, all[1], all[2], testing::at_most(gpt.beside_python));
}

void alone(Bench& bench)
{
    if (!bench.python || quick()) return;
    for (const Work& work : {resnet, gpt}) {
        std::vector<Contender> all{ours("`ddl-train`", 1, work, {"--strategy", "none"}), python(bench.script, 1, work)};
        run_in_rounds(all);
        bench.compare(work.name + ", one process", all[0], all[1], testing::at_most(1.02));
    }
}

// Duration of the program's shortest runs, start and end of the process included.
void start(Bench& bench)
{
    for (const std::string option : {"--help", "--version"}) {
        std::vector<double> ms;
        for (std::size_t i = 0; i < full_rounds; ++i) {
            const std::int64_t begin_ns = base::now_ns();
            if (testing::run({CROSSTALK_BIN "/ddl-train", option}).status != 0)
                base::fail("ddl-train ", option, " failed");
            ms.push_back(static_cast<double>(base::now_ns() - begin_ns) / 1e6);
        }
        bench.rows.add({.name = "`ddl-train " + option + "`", .unit = "ms"}, testing::median(ms),
                       testing::at_most(30.0));
    }
}

}  // namespace

int main(int argc, char** argv)
try {
    std::vector<std::pair<std::string, void (*)(Bench&)>> parts{{"start", start},
                                                                {"exchange", exchange},
                                                                {"shared", shared},
                                                                {"shared-transformer", shared_transformer},
                                                                {"shared-now-and-then", shared_now_and_then},
                                                                {"transformer", transformer},
                                                                {"alone", alone}};
    Bench bench;
    base::Options options{"peer-bench", "whole runs of ddl-train against PyTorch in Python, and of strategies"};
    options.add("script", bench.script, "peers/ddp.py");
    options.add_parts("part", parts);
    if (!options.parse(argc, argv)) return 0;

    const base::CpuSet allowed = base::allowed_cpus();
    for (auto cpu = allowed.begin(); cpu != allowed.end() && bench.cpus.size() < 2; ++cpu) bench.cpus.insert(*cpu);
    base::bind_this_thread(bench.cpus);  // programs that it starts inherit this
    bench.python = testing::run({"/usr/bin/python3", "-c", "import torch"}).status == 0;
    if (!bench.python)
        std::cout << "against Python: not shown, there is no PyTorch (package python3-torch)" << std::endl;
    for (const auto& [name, measure] : parts) measure(bench);
} catch (...) {
    return base::report_failure("peer-bench");
}
