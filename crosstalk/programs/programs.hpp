// SPDX-License-Identifier: Apache-2.0
// The programs beside this one, and everything that this process starts.
#pragma once

#include "base/programs/child.hpp"
#include "base/system/cpus.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace crosstalk {

using Words = std::vector<std::string>;  // of a command line

// Where a program of Crosstalk should be: in the folder CROSSTALK_BIN, else in that of this one, as built or
// installed.
std::filesystem::path path_of_program(const std::string& name);

// The same. Throws Unavailable if it is not there.
std::string program(const std::string& name);

// Path of a script of Crosstalk, as installed or in the source tree. Throws Unavailable.
std::filesystem::path script(const std::string& name);

// The program that a shell would start under that name.
std::optional<std::filesystem::path> found_on_path(const std::string& name);

// A child on these CPUs (none: on all that this thread has) that gets SIGTERM if this process is killed. Throws
// UsageError for a program that is not there.
std::unique_ptr<base::Child> start(base::Launch launch, const base::CpuSet& cpus);

// How a program ended, and what it printed.
struct Answer {
    int code = 0;
    std::string text;
};

// Without their ends. Brackets may reach over lines, unlike in base::split().
std::vector<std::string> lines_of(const std::string& text);

// Waits for it. What it prints as errors is in the text too, or else goes where those of this process go.
enum class Errors { in_the_text, as_ours };
Answer answer_of(const std::vector<std::string>& words, Errors errors);

// Sets for MPI what is not set in the environment: ranks may share CPUs, are bound by the job alone, and get time to
// write their records.
void prepare_for_mpi();

// Returns the exit code of the child. Throws Interrupted where a signal asks this process to end.
int wait_for(base::Child& child);

// Orphans of its children become this process's own, so that nothing that was started gets out of sight; or no longer.
void adopt_orphans();
void leave_orphans();

// Everything that was started and runs, children of children included.
std::set<pid_t> started_processes();

// Asks all of it to end, and insists after some seconds.
void end_started_processes();

// While this lives. What was started ends with it.
class EndsWhatWasStarted {
 public:
    EndsWhatWasStarted() { adopt_orphans(); }
    ~EndsWhatWasStarted()
    {
        end_started_processes();
        leave_orphans();
    }
    EndsWhatWasStarted(const EndsWhatWasStarted&) = delete;
    EndsWhatWasStarted& operator=(const EndsWhatWasStarted&) = delete;
};

}  // namespace crosstalk
