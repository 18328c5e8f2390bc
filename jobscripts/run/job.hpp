// The job that is measured: how it is started, and where its steps are found.
#pragma once

#include "base/programs/child.hpp"
#include "jobscripts/run/request/request.hpp"
#include "jobscripts/run/sources/output.hpp"
#include "jobscripts/run/sources/scorep.hpp"
#include "jobscripts/run/sources/step_source.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace crosstalk {

class Job {
 public:
    // Throws UsageError for a command that cannot be measured so, such as ddl-train with an --out of its own.
    // No CPUs: it chooses them itself.
    Job(const Request& request, const base::CpuSet& cpus);

    StepSource source() const { return source_; }

    // Records its steps as they end, and makes known delays where it is asked to.
    bool cooperates() const { return source_ == StepSource::ddl_train || source_ == StepSource::marks; }

    // The command as it will be started, for people.
    std::string command_line() const;

    // A quiet step of ddl-train, from a short training of its own; kept as the known delay where that is a share.
    void measure_quiet_step();

    void start();
    bool started() const { return child_ != nullptr; }
    bool running();
    int exit_code() const { return exit_code_; }

    // Asks it to end.
    void stop();

    // Steps of rank 0 so far; none where they show only in the end.
    std::optional<std::size_t> steps_so_far() const;

    // A job whose command did not say so may have begun to mark its steps: then it cooperates from here on.
    void look_for_marks();

    // Has a job whose steps show only in the end begun to do what they may come from?
    bool may_have_steps() const;

    bool records_calls() const;  // of MPI, by now
    Output::Seen output() const;

    // To be called when all of it has ended: options for interference that say where the steps are, and on which clock.
    // Throws Error where there are none.
    std::vector<std::string> finish();

    // What it said last: of ddl-train why it failed, once and without what mpirun makes of it.
    std::vector<std::string> last_words() const;

    pid_t pid() const { return child_->pid(); }
    const base::Child& child() const { return *child_; }
    std::filesystem::path log() const;

 private:
    std::vector<std::string> words() const;
    std::vector<std::string> training_words(const std::filesystem::path& out) const;
    std::vector<std::string> metrics_words() const;
    bool names(const std::string& option) const;
    bool computes_on_gpu() const;
    void prepare() const;
    std::filesystem::path own_trace() const;
    bool has_own_trace() const;
    void take_archive_of_scorep() const;
    std::vector<std::string> steps_of_archive() const;
    std::vector<std::string> steps_of_scorep() const;
    std::vector<std::string> steps_of_lines(const LineKinds& kinds) const;
    std::vector<std::string> steps_of_marks() const;
    void take_record_of_calls();
    std::filesystem::path own_table() const;

    const Request& request_;
    base::CpuSet cpus_;
    StepSource source_;
    std::filesystem::path part_;  // of the run's directory, for its record and archive
    std::string control_delay_;
    std::unique_ptr<Output> output_;
    std::unique_ptr<base::Child> child_;
    int exit_code_ = 0;
    JobTimes times_;
    std::filesystem::file_time_type began_;  // by the clock of its files
};

}  // namespace crosstalk
