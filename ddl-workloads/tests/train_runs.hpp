// Runs the real ddl-train, alone or under mpirun, to its end or until a test stops it.
#pragma once

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

#include <sys/types.h>

namespace testing {

using Words = std::vector<std::string>;

struct TrainRun {
    int status = -1;        // exit code, or 128 + signal
    nlohmann::json result;  // the line on stdout; null if there is none
    std::string err;
};

// One process without MPI.
TrainRun train_alone(const std::filesystem::path& out, const Words& options);

// `ranks` processes under mpirun.
TrainRun train(int ranks, const std::filesystem::path& out, const Words& options);

// Of rank 0 of a run that has ended, in ms; the first ten steps, which warm up, are left out.
double median_step_ms(const std::filesystem::path& out);

// `ranks` processes under mpirun, running beside the test until it is waited for; killed at the end.
class RunningTraining {
 public:
    RunningTraining(int ranks, std::filesystem::path out, const Words& options);
    ~RunningTraining();
    RunningTraining(const RunningTraining&) = delete;
    RunningTraining& operator=(const RunningTraining&) = delete;

    // Waits until every rank has made some steps.
    void wait_for_steps() const;
    pid_t launcher() const { return launcher_; }
    std::vector<pid_t> ranks() const;  // the launcher's children
    int wait();                        // for the launcher; exit code, or 128 + signal

 private:
    std::filesystem::path out_;
    int ranks_ = 0;
    pid_t launcher_ = -1;
};

// A process that still runs; one that only nobody has waited for does not.
bool runs(pid_t process);

// Debian's data set digits is on this machine.
bool digits_are_here();

}  // namespace testing
