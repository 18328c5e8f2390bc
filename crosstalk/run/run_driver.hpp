// SPDX-License-Identifier: Apache-2.0
// Carries out one designed run: starts the job and the noise, and collects their records.
#pragma once

#include "crosstalk/run/evidence_process.hpp"
#include "crosstalk/run/job.hpp"
#include "crosstalk/run/noise_process.hpp"
#include "crosstalk/run/place/placement.hpp"

#include <cstddef>
#include <memory>
#include <set>
#include <string>

#include <sys/types.h>

namespace crosstalk {

class RunDriver {
 public:
    // Throws UsageError for a request that cannot be run. The request must outlive this object.
    explicit RunDriver(const Request& request);

    // Plans the slots; starts no job or noise.
    void plan();

    // Starts job and noise, and waits until both have ended. Throws Ended, Interrupted.
    void run();

    // Makes the report. Returns interference's exit code.
    int report();

    // After a signal: ends job and noise, and keeps the data for a report.
    void keep();
    bool is_kept() const { return is_kept_; }

    // True if there is a report on this run, rather than on an earlier part.
    bool has_report() const { return has_report_; }

    // How long noise must be on for a report, if it was too short; else 0.
    base::Nanoseconds missing() const { return was_too_short_ ? needed_ : base::Nanoseconds{}; }

    // Prints the commands, for people.
    void show() const;

 private:
    Words with_launcher(const Words& noise) const;
    void say_where() const;
    void take_steps();
    void ask_to_end();
    void end_at_once();
    void signal_job(int signal) const;
    void rest() const;
    void plan_anew();
    std::string schedule_for(std::size_t cores_of_rank) const;
    std::set<pid_t> ranks() const;
    void keep_noise_off_the_job();
    void start_evidence();
    void start_noise();
    bool is_noise_everywhere();
    std::string nodes_without_noise() const;
    void wait_for_noise();
    void check_length(base::Nanoseconds needed);
    void watch();
    bool has_to_end_by_itself();
    void say_how_far(std::int64_t seconds);
    std::string so_far();

    const Request& request_;
    std::unique_ptr<Launcher> launcher_;
    Placement placement_;
    Split& cores_;
    Request launched_;  // the request, with the launcher's prefix in the job's command
    Job job_;
    std::string schedule_;
    NoiseProcess noise_;
    EvidenceProcess evidence_;
    std::string slots_;
    std::int64_t noise_on_ns_ = 0;
    base::Nanoseconds needed_{};  // length of noise that a report needs
    bool was_too_short_ = false;
    bool ended_early_ = false;
    bool waits_for_its_end_ = false;
    bool reached_its_end_ = false;  // the job was asked to end after the whole duration
    bool decided_ = false;          // all verdicts were decided before the maximum duration
    bool has_report_ = false;
    bool has_steps_ = false;
    bool is_kept_ = false;
};

}  // namespace crosstalk
