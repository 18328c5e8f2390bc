// SPDX-License-Identifier: Apache-2.0
// The job that is measured: how it is started and ended, and its source of steps.
#pragma once

#include "base/programs/child.hpp"
#include "crosstalk/run/sources/step_source.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace crosstalk {

class Job {
 public:
    // Throws UsageError for a command that cannot be measured so, such as ddl-train with an --out of its own.
    // No CPUs: it chooses them itself.
    Job(const Request& request, const base::CpuSet& cpus);

    const StepSource& source() const { return *source_; }
    bool cooperates() const { return source_->cooperates(); }

    // The command as it will be started, for people.
    std::string command_line() const;

    // Where the source knows a quiet step by a short training: the known delay is then a time.
    void measure_quiet_step() { source_->measure_quiet_step(); }

    void start();

    // Adds the processes of its ranks to the record of a job that writes none itself, where they are known.
    void write_ranks() const;

    bool started() const { return child_ != nullptr; }
    bool running();
    int exit_code() const { return exit_code_; }

    // Asks it to end.
    void stop();

    // A job may begin to report its steps although its command did not show it: then that is the source.
    void find_source();

    Output::Seen output() const;

    // See StepSource::finish().
    Words finish();

    Words last_words() const { return job_.last_words(); }
    std::filesystem::path log() const { return job_.log(); }
    pid_t pid() const { return child_->pid(); }
    const base::Child& child() const { return *child_; }

 private:
    void write_record() const;

    MeasuredJob job_;
    std::unique_ptr<StepSource> source_;
    std::unique_ptr<base::Child> child_;
    int exit_code_ = 0;
};

}  // namespace crosstalk
