// SPDX-License-Identifier: Apache-2.0
// Crosstalk's other programs, and the processes that this process starts.
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

using Words = std::vector<std::string>;  // a command line

// Path where a program of Crosstalk should be: in the folder CROSSTALK_BIN, else relative to this program, in a build
// tree or as installed.
std::filesystem::path path_of_program(const std::string& name);

// path_of_program(). Throws Unavailable if the file does not exist.
std::string program(const std::string& name);

// Path of one of Crosstalk's scripts, as installed or in the source tree. Throws Unavailable if it does not exist.
std::filesystem::path script(const std::string& name);

// The program that a shell would start for this name; no value if there is no such program.
std::optional<std::filesystem::path> found_on_path(const std::string& name);

// Starts a child on these CPUs (empty: on all CPUs of this thread). The child gets SIGTERM if this process is killed.
// Throws UsageError if the program does not exist.
std::unique_ptr<base::Child> start(base::Launch launch, const base::CpuSet& cpus);

// Exit code and output of a program.
struct Answer {
    int code = 0;
    std::string text;
};

// The lines of a text, without line ends. Brackets may span lines, unlike in base::split().
std::vector<std::string> lines_of(const std::string& text);

// Runs the program and waits for it. Its stderr goes into the text, or to this process's stderr.
enum class Errors { in_the_text, as_ours };
Answer answer_of(const std::vector<std::string>& words, Errors errors);

// The message in a line of one of Crosstalk's programs: "no stressor 'x'" in "noisegen: no stressor 'x'". Lines of
// other programs are returned as they are.
std::string message_in(const std::string& line);

// The message in the last line of a text that is not blank; empty if there is none.
std::string last_message(const std::string& text);

// Sets environment variables for MPI that are not set: ranks may share CPUs, are bound only by the job, and get time to
// write their records.
void prepare_for_mpi();

// Returns the child's exit code. Throws Interrupted if a signal asks this process to end.
int wait_for(base::Child& child);

// Makes orphans of its children this process's own, so that no started process is lost; leave_orphans() ends this.
void adopt_orphans();
void leave_orphans();

// All running processes that this process started, with their descendants.
std::set<pid_t> started_processes();

// Asks all started processes to end, and kills them after some seconds.
void end_started_processes();

// Ends everything that this process started when the object is destroyed.
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
