// SPDX-License-Identifier: Apache-2.0
// Sources of a job's steps. Each source is one file, which ends in its card; sources.inc lists them.
#pragma once

#include "crosstalk/programs/programs.hpp"
#include "crosstalk/run/request/request.hpp"
#include "crosstalk/run/sources/output.hpp"
#include "crosstalk/run/sources/scorep_archive.hpp"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace crosstalk {

// State of a job, common to all sources of steps.
struct MeasuredJob {
    const Request& request;
    base::CpuSet cpus;               // empty: the job chooses its CPUs
    std::string control_delay;       // the requested delay; a time once a quiet step was measured
    std::unique_ptr<Output> output;  // reads the output; null: the output goes to the log directly
    JobTimes times;
    std::filesystem::file_time_type began;  // time stamp of the job's file system

    std::filesystem::path log() const;        // the job's output
    std::filesystem::path own_table() const;  // path of train/steps.csv

    // Last lines of the job's log: for ddl-train the reason of a failure, once and without mpirun's additions.
    Words last_words() const;

    // "--step-line EXPRESSION" with an expression for the most frequent lines.
    std::string option_for_lines() const;
};

class StepSource {
 public:
    explicit StepSource(MeasuredJob& job) : job_{job} {}
    virtual ~StepSource() = default;
    StepSource(const StepSource&) = delete;
    StepSource& operator=(const StepSource&) = delete;

    // The command that is started.
    virtual Words words() const { return job_.request.command; }

    // Does the job record steps as they end, and make known delays on request?
    virtual bool cooperates() const { return false; }

    // Does it end on its own after request.duration, and record CPUs, ranks and nodes?
    virtual bool is_complete_training() const { return false; }

    // Must SIGTERM go to its processes, which then write an archive, rather than to their launcher?
    virtual bool ends_by_its_processes() const { return false; }

    // Does the program write its archive at its end, and must the run wait for that?
    virtual bool writes_archive_at_its_end() const { return false; }

    // Is its output read while it is printed?
    virtual bool reads_output() const { return true; }

    // Measures a quiet step by a short training if the known delay depends on it; reports that.
    virtual void measure_quiet_step() {}

    // Called before the job starts.
    virtual void prepare() {}

    // Number of steps of rank 0 so far; none if steps are known only at the end.
    virtual std::optional<std::size_t> steps_so_far() const { return {}; }

    // Number of steps after which noise begins.
    virtual std::size_t first_steps() const { return 5; }

    // If steps are known only at the end: has the job begun with events that may be steps?
    virtual bool may_have_steps() const { return true; }

    virtual bool records_calls() const { return false; }  // is it recording MPI calls at present?

    // The source that turned out to be the right one; null: this one.
    virtual std::unique_ptr<StepSource> successor() const { return nullptr; }

    // Advice if no step is found: one sentence.
    virtual std::string advice() const = 0;

    // Call it when all processes of the job have ended. Returns options by which interference finds the steps and their
    // clock. `kinds`: kinds of the job's output lines. Throws Error if there are no steps.
    virtual Words finish(const LineKinds& kinds) = 0;

    // Folder in the run's directory for the job's record and archive.
    virtual std::filesystem::path part() const;
    std::filesystem::path own_trace() const;
    bool has_own_trace() const;

 protected:
    Words metrics_words() const;  // --openmetrics, if requested
    bool names(const std::string& option) const;
    std::size_t rows_of_own_table() const;

    // Options by which interference recognises steps in an archive.
    Words words_for_archive() const;

    MeasuredJob& job_;
};

struct StepSourceCard {
    bool (*takes)(const Request& request);
    std::unique_ptr<StepSource> (*make)(MeasuredJob& job);
};

template <class Source>
std::unique_ptr<StepSource> make_source(MeasuredJob& job)
{
    return std::make_unique<Source>(job);
}

#define STEP_SOURCE(card) extern const StepSourceCard card;
#include "crosstalk/run/sources/sources.inc"
#undef STEP_SOURCE

// Throws UsageError for a request with several sources, or with options that its source does not allow.
std::unique_ptr<StepSource> source_of(MeasuredJob& job);

// Is it a program of Crosstalk? It need not be on PATH.
bool is_ours(const std::string& word);
bool is_ddl_train(const std::string& word);

constexpr std::size_t least_steps = 20;  // fewer lines of a kind, or rows of a table, do not count as steps

// Number of rows for rank 0 in a table of steps so far.
std::size_t steps_in(const std::filesystem::path& table);

}  // namespace crosstalk
