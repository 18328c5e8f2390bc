// SPDX-License-Identifier: Apache-2.0
// The measured job: its start and end, and the source of its steps.
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
    // Throws UsageError for a command that cannot be measured, such as ddl-train with its own --out. If `cpus` is
    // empty, the job chooses its CPUs.
    Job(const Request& request, const base::CpuSet& cpus);

    const StepSource& source() const { return *source_; }
    bool cooperates() const { return source_->cooperates(); }

    // The command that will be started, as text for people.
    std::string command_line() const;

    // For sources that measure a quiet step by a short training; afterwards the known delay is a time.
    void measure_quiet_step() { source_->measure_quiet_step(); }

    void start();

    // Records the processes of the job's ranks, if they are known and the job does not record them itself.
    void write_ranks() const;

    bool started() const { return child_ != nullptr; }
    bool running();
    int exit_code() const { return exit_code_; }

    // Asks the job to end.
    void stop();

    // A job may begin to report its steps although its command did not show it; then its source changes.
    void find_source();

    Output::Seen output() const;

    // Calls StepSource::finish().
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
