// SPDX-License-Identifier: Apache-2.0
#include "testing/train_runs.hpp"

#include "base/csv.hpp"
#include "base/error.hpp"
#include "ddl-workloads/data/data_set.hpp"
#include "ddl-workloads/strategies/strategy.hpp"
#include "testing/testing.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

namespace testing {

namespace {

constexpr auto poll = std::chrono::milliseconds{50};

// Sets the thread counts that ddl-train requires, so that it does not re-execute itself, which takes time.
void start_once()
{
    for (const char* name : {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"}) ::setenv(name, "1", 1);
}

Words under_mpirun(int ranks, const Words& command)
{
    // Leaks of MPI and the libraries it loads are not ours to report; runs without MPI are checked for leaks. Without
    // stack traces of allocations LibTorch loads a third faster.
    ::setenv("ASAN_OPTIONS", "detect_container_overflow=0:detect_leaks=0:malloc_context_size=0:quarantine_size_mb=16",
             1);
    start_once();
    Words words{"mpirun", "-n", std::to_string(ranks), "--oversubscribe", "--bind-to", "none"};
    words.insert(words.end(), command.begin(), command.end());
    return words;
}

Words ddl_train(const std::filesystem::path& out, const Words& options)
{
    Words words{CROSSTALK_BIN "/ddl-train", "--json", "--out", out.string()};
    words.insert(words.end(), options.begin(), options.end());
    return words;
}

TrainRun finished(const Outcome& outcome)
{
    TrainRun run{.status = outcome.status, .result = nullptr, .err = outcome.err};
    const std::size_t begin = outcome.out.find('{');
    if (begin != std::string::npos) run.result = nlohmann::json::parse(outcome.out.substr(begin));
    return run;
}

}  // namespace

TrainRun train_alone(const std::filesystem::path& out, const Words& options)
{
    start_once();
    Words words = ddl_train(out, options);
    words.insert(words.end(), {"--transport", "self"});
    return finished(run(words));
}

TrainRun train(int ranks, const std::filesystem::path& out, const Words& options)
{
    return finished(run(under_mpirun(ranks, ddl_train(out, options))));
}

std::vector<StepTime> steps_in(const std::filesystem::path& out)
{
    const base::CsvTable rows{out / "train/steps.csv"};
    std::vector<StepTime> steps;
    for (std::size_t row = 0; row < rows.rows(); ++row)
        if (rows.get<int>(row, "rank") == 0)
            steps.push_back(
                {.begin_ns = rows.get<std::int64_t>(row, "begin_ns"), .end_ns = rows.get<std::int64_t>(row, "end_ns")});
    return steps;
}

RunningJob::RunningJob(int ranks, const Words& command, const std::filesystem::path& log)
    : launcher_{{.words = under_mpirun(ranks, command), .output = log, .errors = log}}
{
}

RunningJob::~RunningJob()
{
    for (const pid_t rank : ranks()) ::kill(rank, SIGKILL);
}

RunningTraining::RunningTraining(int ranks, std::filesystem::path out, const Words& options)
    : RunningJob{ranks, ddl_train(out, options), out.string() + ".log"}, out_{std::move(out)}, ranks_{ranks}
{
}

void RunningTraining::wait_for_steps() const
{
    const std::filesystem::path steps = out_ / "train/steps.csv";
    constexpr std::size_t enough = 4;
    while (true) {
        if (std::filesystem::exists(steps) && std::filesystem::file_size(steps) > 0)
            if (base::CsvTable{steps}.rows() >= enough * static_cast<std::size_t>(ranks_)) return;
        if (!runs(launcher())) base::fail("the training ended before its first steps");
        std::this_thread::sleep_for(poll);
    }
}

std::vector<pid_t> RunningJob::ranks() const
{
    std::vector<pid_t> children;
    const std::string tasks = "/proc/" + std::to_string(launcher()) + "/task";
    std::error_code gone;
    for (const auto& task : std::filesystem::directory_iterator{tasks, gone}) {
        std::ifstream file{task.path() / "children"};
        for (pid_t child = 0; file >> child;) children.push_back(child);
    }
    return children;
}

std::vector<Words> every_model(const std::map<std::string, Words>& forms)
{
    const Outcome list = run({CROSSTALK_BIN "/ddl-train", "--list"});
    if (list.status != 0) base::fail("ddl-train --list failed: ", list.err);
    std::vector<Words> all;
    bool models = false;
    std::istringstream lines{list.out};
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with(' ')) models = line == "models:";
        if (!models || !line.starts_with("  ") || line.starts_with("   ")) continue;
        const std::string name = line.substr(2, line.find(' ', 2) - 2);
        const auto form = forms.find(name);
        const Words words =
            form != forms.end() ? form->second : Words{"--model", name, "--data", "synthetic[samples=1600]"};
        if (!words.empty()) all.push_back(words);
    }
    return all;
}

Words every_strategy(const std::map<std::string, Words>& forms)
{
    Words all;
    for (const ddl::StrategyCard* card : ddl::strategies().cards()) {
        const base::Capabilities needs = card->needs(ddl::strategies().settings(*card, {}));
        const bool of_mean = base::contains(needs, ddl::exchanged_gradients);  // all ranks train on all batches
        if (!of_mean || !base::contains(card->offers, ddl::equal_ranks) || card->name == "naive") continue;
        const auto found = forms.find(card->name);
        const Words of_this = found != forms.end() ? found->second : Words{card->name};
        all.insert(all.end(), of_this.begin(), of_this.end());
    }
    return all;
}

Words some_text(const std::filesystem::path& path, int length)
{
    std::ofstream file{path};
    for (int i = 0; i < 300; ++i) file << "In the beginning was the word. ";
    return {"--data", base::join("text[path=", path.string(), ",length=", length, "]")};
}

bool runs(pid_t process)
{
    std::ifstream file{"/proc/" + std::to_string(process) + "/stat"};
    std::string text;
    if (!std::getline(file, text)) return false;
    const char state = text.at(text.rfind(')') + 2);
    return state != 'Z' && state != 'X';
}

}  // namespace testing
