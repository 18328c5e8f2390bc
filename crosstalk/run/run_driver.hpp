// SPDX-License-Identifier: Apache-2.0
// Drives one designed run: a job, the noise beside it, and what is kept of both.
#pragma once

#include "crosstalk/run/evidence_process.hpp"
#include "crosstalk/run/job.hpp"
#include "crosstalk/run/noise_process.hpp"
#include "crosstalk/run/placement.hpp"

#include <cstddef>
#include <memory>
#include <set>
#include <string>

#include <sys/types.h>

namespace crosstalk {

class RunDriver {
 public:
    // Throws UsageError for a request that cannot be run so. The request must outlive it.
    explicit RunDriver(const Request& request);

    // The slots, before anything is started.
    void plan();

    // Starts job and noise, and waits until both have ended. Throws Ended, Interrupted.
    void run();

    // Returns interference's exit code.
    int report();

    // After a signal: ends the job and the noise, and leaves what a report can be made from.
    void keep();
    bool is_kept() const { return is_kept_; }

    // A report of this run, not of an earlier part.
    bool has_report() const { return has_report_; }

    // How long noise has to be on for a report, where it was not; else 0.
    base::Nanoseconds missing() const { return was_too_short_ ? needed_ : base::Nanoseconds{}; }

    // The commands, for people.
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
    Request launched_;  // with the launcher's words in front of the job's
    Job job_;
    std::string schedule_;
    NoiseProcess noise_;
    EvidenceProcess evidence_;
    std::string slots_;
    std::int64_t noise_on_ns_ = 0;
    base::Nanoseconds needed_{};  // of noise, for a report
    bool was_too_short_ = false;
    bool ended_early_ = false;
    bool waits_for_its_end_ = false;
    bool decided_ = false;  // before the longest time was over
    bool has_report_ = false;
    bool has_steps_ = false;
    bool is_kept_ = false;
};

}  // namespace crosstalk
