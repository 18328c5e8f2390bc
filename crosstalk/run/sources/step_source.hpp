// SPDX-License-Identifier: Apache-2.0
// Where the steps of a job come from. Each source is one file, which ends in its card; all of them stand in
// sources.inc.
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

// State of a job that all sources of steps share.
struct MeasuredJob {
    const Request& request;
    base::CpuSet cpus;               // empty: it chooses them itself
    std::string control_delay;       // as asked for; a time once a quiet step was measured
    std::unique_ptr<Output> output;  // what it prints; null where that goes to its log unread
    JobTimes times;
    std::filesystem::file_time_type began;  // by the clock of its files

    std::filesystem::path log() const;        // what it printed
    std::filesystem::path own_table() const;  // train/steps.csv

    // Last lines of its log: for ddl-train the reason of a failure, once and without mpirun's additions.
    Words last_words() const;

    // "--step-line EXPRESSION", with an expression for the lines that it prints most of.
    std::string option_for_lines() const;
};

class StepSource {
 public:
    explicit StepSource(MeasuredJob& job) : job_{job} {}
    virtual ~StepSource() = default;
    StepSource(const StepSource&) = delete;
    StepSource& operator=(const StepSource&) = delete;

    // The command as it is started.
    virtual Words words() const { return job_.request.command; }

    // Does the job record its steps as they end, and make known delays where it is asked to?
    virtual bool cooperates() const { return false; }

    // Does it end without being asked after request.duration, with CPUs, ranks and nodes on record?
    virtual bool is_complete_training() const { return false; }

    // Is SIGTERM for its processes, which write an archive then, and not for what launched them?
    virtual bool ends_by_its_processes() const { return false; }

    // Is its archive written when the program ends, and is that waited for?
    virtual bool writes_archive_at_its_end() const { return false; }

    // Are its lines read as it prints them?
    virtual bool reads_output() const { return true; }

    // Makes what the known delay has to be known, by a short training; says so.
    virtual void measure_quiet_step() {}

    // Before it starts.
    virtual void prepare() {}

    // Steps of rank 0 so far; none where they show only in the end.
    virtual std::optional<std::size_t> steps_so_far() const { return {}; }

    // Noise begins after this many steps.
    virtual std::size_t first_steps() const { return 5; }

    // Has a job whose steps show only in the end begun to do what they may come from?
    virtual bool may_have_steps() const { return true; }

    virtual bool records_calls() const { return false; }  // of MPI, by now

    // The source that the job turned out to have instead; null: this one.
    virtual std::unique_ptr<StepSource> successor() const { return nullptr; }

    // Advice where no step comes, a sentence.
    virtual std::string advice() const = 0;

    // To be called when all of the job has ended: options for interference that say where the steps are, and on which
    // clock. `kinds`: of the lines that it printed. Throws Error where there are no steps.
    virtual Words finish(const LineKinds& kinds) = 0;

    // The folder in the run's directory for the job's record and archive.
    virtual std::filesystem::path part() const;
    std::filesystem::path own_trace() const;
    bool has_own_trace() const;

 protected:
    Words metrics_words() const;  // --openmetrics, if it is wanted
    bool names(const std::string& option) const;
    std::size_t rows_of_own_table() const;

    // Options for interference that say which events of an archive are steps.
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

// A program of Crosstalk, which need not be on PATH.
bool is_ours(const std::string& word);
bool is_ddl_train(const std::string& word);

constexpr std::size_t least_steps = 20;  // lines of a kind, or rows of a table: with fewer it tells of no steps

// Rows that a table of steps has so far for rank 0.
std::size_t steps_in(const std::filesystem::path& table);

}  // namespace crosstalk
