// SPDX-License-Identifier: Apache-2.0
// Records the job's MPI calls; steps last from one call to the next. Without MPI the job's output lines are used. The
// job may turn out to mark its steps, or to be traced by Score-P, although its command did not show that.
#include "base/contract/run_directory.hpp"
#include "base/contract/run_words.hpp"
#include "base/error.hpp"
#include "crosstalk/programs/programs.hpp"
#include "crosstalk/run/sources/step_source.hpp"

namespace crosstalk {

namespace {

namespace fs = std::filesystem;

class Calls : public StepSource {
 public:
    explicit Calls(MeasuredJob& job) : StepSource{job}, part_{job.request.out / base::part::log / "calls"} {}

    Words words() const override
    {
        Words words{program("trace-record"), "--out", own_trace().string(), "--"};
        words.insert(words.end(), job_.request.command.begin(), job_.request.command.end());
        return words;
    }

    void prepare() override { marks_source.make(job_)->prepare(); }

    bool may_have_steps() const override
    {
        constexpr std::size_t least = 5;
        return job_.output->most_lines() >= least || records_calls() || started_scorep(job_.request.folder, job_.began);
    }

    bool records_calls() const override { return fs::exists(own_trace().string() + ".tmp"); }

    std::unique_ptr<StepSource> successor() const override
    {
        if (!job_.request.step_region.empty() || !job_.request.step_from.empty()) return nullptr;
        const bool tells = fs::exists(job_.request.out / base::part::log / base::file::marks_steps);
        return tells ? marks_source.make(job_) : nullptr;
    }

    std::string advice() const override
    {
        return "steps come from MPI calls, lines that repeat, or crosstalk.step(): " + job_.option_for_lines() +
               " names lines, --steps FILE a table";
    }

    Words finish(const LineKinds& kinds) override
    {
        if (fs::exists(job_.own_table()))  // the program reported its steps too late for the noise
            return marks_source.make(job_)->finish(kinds);
        become_training();
        if (scorep_directory(job_.request.folder, job_.began)) {
            if (fs::exists(own_trace())) fs::rename(own_trace(), own_trace().string() + "-of-calls");
            return scorep_source.make(job_)->finish(kinds);
        }
        if (has_own_trace()) return words_for_archive();
        if (kinds.most_frequent(least_steps)) return lines_source.make(job_)->finish(kinds);
        if (fs::exists(own_trace()) || records_calls())
            base::fail(
                "the job was killed before its archive of MPI calls was complete: a rank died, or its launcher allows ",
                "too little time after SIGTERM; see ", job_.log().string());
        base::fail("no steps found in the job: no MPI calls, no repeated lines; give ",
                   "--step-line EXPRESSION, or --steps FILE for a table that it writes");
    }

    // Data are in log/ until it is clear that the job does not report its own steps.
    fs::path part() const override { return part_; }

 private:
    // Throws filesystem_error if a file is in the way.
    void become_training()
    {
        const fs::path train = StepSource::part();
        if (part_ == train) return;
        fs::rename(part_, train);
        part_ = train;
    }

    fs::path part_;
};

}  // namespace

extern const StepSourceCard calls_source{.takes = [](const Request&) { return true; }, .make = make_source<Calls>};

}  // namespace crosstalk
