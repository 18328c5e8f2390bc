// SPDX-License-Identifier: Apache-2.0
// One thread per noise CPU, bound to it: works off the slot table at absolute times and reports what it did, slot
// by slot.
#pragma once

#include "base/descriptor.hpp"
#include "noisegen/execution/threads/stop_event.hpp"
#include "noisegen/execution/threads/stress.hpp"
#include "noisegen/execution/threads/thread_places.hpp"
#include "noisegen/resources/limit_group.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <latch>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace noisegen {

class Team {
 public:
    struct Setup {
        std::vector<int> cpus;               // one thread each
        std::vector<std::vector<int>> runs;  // by stressor: its CPUs (divide())
        std::filesystem::path control_run;
        std::set<pid_t> victims = {};  // Place::victims
        std::filesystem::path noise;   // Place::noise
        base::JobRank job;
        std::uint64_t seed = 1;            // of random arrivals
        std::string scheduling = "other";  // class of the noise threads, set_scheduling_class()
        bool at_once = false;              // Place::at_once
    };

    // Makes the shared parts of the stressors, then in each thread its instances, and waits for them. Throws what any
    // of them throws. The schedule must outlive the team.
    Team(const Schedule& schedule, Setup setup);
    ~Team();  // stops
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    // Once the table is over, the team may be started again, with another one; its counts then restart.
    void start(std::vector<Slot> table, std::int64_t start_ns, NoiseObservers observers);

    // Waits until there is something to report (done, failed, newly short), the descriptor can be read, or the time has
    // come.
    void wait_for_news(std::int64_t deadline_ns, int descriptor) const;

    // Has every thread come to the table's end? If one failed, none will.
    bool done() const { return working_.load() == 0; }
    bool failed() const { return failed_.load(); }

    // Ends the stress, waits for all threads and throws what one of them threw.
    void stop();

    // So far, of all CPUs, current slots included.
    std::uint64_t bytes() const;
    std::uint64_t operations() const;

    // Levels that do not reach their rate or duty: the share reached on the first CPU that noticed. Each is reported
    // once, about a second of its stress after it begins.
    std::vector<std::pair<std::size_t, double>> newly_short();

    // Noise that somebody has taken off its CPU (taskset, a cpuset). Each CPU is reported once.
    std::vector<MovedNoise> newly_moved() { return places_.newly_moved(); }
    const std::vector<MovedNoise>& moved() const { return places_.all(); }  // so far

    // After stop(): by level, all CPUs together (time: the sum over CPUs).
    std::vector<LevelTotal> totals() const;
    Lateness lateness() const;  // after stop()
    // How late noise that follows the training began and ended, each time. After stop().
    Lateness late_to_follow() const;
    Lateness late_to_leave() const;
    // How each stressor worked on its first CPU, by stressor; empty if it has nothing to report. After stop().
    const std::vector<std::string>& notes() const { return notes_; }
    const std::vector<std::string>& not_kept() const { return not_kept_; }  // Stressor::not_kept(), likewise
    // The mechanism that enforces the level's limit: "cgroup v1"; empty if it has none.
    std::string limited_by(const Intensity& intensity) const;

 private:
    struct Worker;
    void work(Worker& worker);
    // Waits until there is a table to work off that this worker has not seen; false: the team is to end.
    bool await_start(std::uint64_t tables_seen);
    void count_anew();
    void run_slots(Worker& worker);
    // A slot that only sleeps ends on time if stress follows it.
    SlotDone run_slot(Worker& worker, const RunqueueDelay& runqueue_delay, const Slot& slot, bool stress_follows);
    std::optional<std::size_t> level_of(const Worker& worker, const Slot& slot) const;
    bool stresses(const Worker& worker, const Slot& slot) const;
    std::uint64_t arrival_seed(const Worker& worker, std::size_t level) const;
    void fell_short(std::size_t level, double share);
    Lateness lateness(std::vector<std::int64_t> CpuFigures::*times) const;
    void fail(std::exception_ptr error);
    void tell_news();

    const Schedule& schedule_;
    Setup setup_;
    std::unique_ptr<LimitGroup> limits_;  // if a level has a limit; what is made after it is in its groups
    std::vector<std::unique_ptr<Shared>> shared_;
    StopEvent stop_event_;
    std::latch made_;
    std::condition_variable go_;  // of tables_ and the stop event, under mutex_
    std::uint64_t tables_ = 0;    // given by start()
    std::vector<Slot> table_;
    std::int64_t start_ns_ = 0;
    NoiseObservers observers_;
    std::optional<base::ControlFile> control_;  // if a level follows the training
    base::Descriptor news_;                     // an event
    std::atomic<std::size_t> working_;
    std::atomic<bool> failed_ = false;
    std::mutex mutex_;  // of the error and the notes
    std::exception_ptr error_;
    ThreadPlaces places_;
    std::vector<std::string> notes_;
    std::vector<std::string> not_kept_;
    std::vector<std::atomic<float>> short_;  // by level: the share reached, 0 while all is well
    std::vector<bool> reported_;
    std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace noisegen
