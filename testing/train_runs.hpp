// SPDX-License-Identifier: Apache-2.0
// Runs the real ddl-train, alone or under mpirun, to its end or until a test stops it.
#pragma once

#include "base/programs/child.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

namespace testing {

using Words = std::vector<std::string>;

inline Words operator+(Words words, const Words& more)
{
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

struct TrainRun {
    int status = -1;        // exit code, or 128 + signal
    nlohmann::json result;  // the line on stdout; null if there is none
    std::string err;
};

// Runs one process without MPI.
TrainRun train_alone(const std::filesystem::path& out, const Words& options);

// Runs `ranks` processes under mpirun.
TrainRun train(int ranks, const std::filesystem::path& out, const Words& options);

struct StepTime {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    double ms() const { return static_cast<double>(end_ns - begin_ns) / 1e6; }
};

// Steps of rank 0 that its CSV holds so far.
std::vector<StepTime> steps_in(const std::filesystem::path& out);

// Runs `ranks` processes of a program under mpirun in the background, until wait() is called; kills them at the end.
class RunningJob {
 public:
    // Writes the job's stdout and stderr to `log`.
    RunningJob(int ranks, const Words& command, const std::filesystem::path& log);
    ~RunningJob();
    RunningJob(const RunningJob&) = delete;
    RunningJob& operator=(const RunningJob&) = delete;

    pid_t launcher() const { return launcher_.pid(); }
    std::vector<pid_t> ranks() const;        // the launcher's children
    int wait() { return launcher_.wait(); }  // waits for the launcher; returns its exit code, or 128 + signal

 private:
    base::Child launcher_;
};

class RunningTraining : public RunningJob {
 public:
    RunningTraining(int ranks, std::filesystem::path out, const Words& options);

    // Waits until every rank has made some steps.
    void wait_for_steps() const;

 private:
    std::filesystem::path out_;
    int ranks_ = 0;
};

// Options that train every model of ddl-train: the entry of `forms` if it has one, otherwise the model's name alone, on
// synthetic images. An empty entry leaves the model out.
std::vector<Words> every_model(const std::map<std::string, Words>& forms);

// All strategies that train with the mean gradient of all ranks and keep them equal, except naive: the entry of `forms`
// if it has one, otherwise the name alone.
Words every_strategy(const std::map<std::string, Words>& forms);

// Writes a text file of several kB, and returns the options of a training on it.
Words some_text(const std::filesystem::path& path, int length);

// True for a running process, false for a zombie.
bool runs(pid_t process);

}  // namespace testing
