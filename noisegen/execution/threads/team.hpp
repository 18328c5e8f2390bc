// SPDX-License-Identifier: Apache-2.0
// The noise threads: one per noise CPU, bound to it. Each follows the slot table at absolute times and reports its work
// slot by slot.
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
        std::vector<int> cpus;               // one thread runs on each
        std::vector<std::vector<int>> runs;  // by stressor: indices of its CPUs (divide())
        std::filesystem::path control_run{};
        std::set<pid_t> victims = {};   // Place::victims
        std::filesystem::path noise{};  // Place::noise
        base::JobRank job{};
        std::uint64_t seed = 1;            // seed of random arrivals
        std::string scheduling = "other";  // scheduling class of the noise threads
        bool at_once = false;              // Place::at_once
    };

    // Makes the shared parts of the stressors, then, in each thread, its instances of them, and waits until they are
    // ready. Throws what any thread throws. The schedule must outlive the team.
    Team(const Schedule& schedule, Setup setup);
    ~Team();  // stops the threads
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    // Starts a table. After the table's end the team may be started with another one; its counters then restart.
    void start(std::vector<Slot> table, std::int64_t start_ns, NoiseObservers observers);

    // Waits until there is something to report (done, failed, newly short), the descriptor becomes readable, or the
    // deadline has passed.
    void wait_for_news(std::int64_t deadline_ns, int descriptor) const;

    // Have all threads reached the table's end? Never true after one has failed.
    bool done() const { return working_.load() == 0; }
    bool failed() const { return failed_.load(); }

    // Ends the stress and waits for all threads. Throws what one of them threw.
    void stop();

    // Work of all CPUs so far, including that of current slots.
    std::uint64_t bytes() const;
    std::uint64_t operations() const;

    // Levels that do not reach their rate or duty, with the share achieved on the first CPU that noticed. Each level is
    // reported once, after about a second of its stress.
    std::vector<std::pair<std::size_t, double>> newly_short();

    // Noise threads that were moved off their CPUs from outside (taskset, a cpuset). Each CPU is reported once.
    std::vector<MovedNoise> newly_moved() { return places_.newly_moved(); }
    const std::vector<MovedNoise>& moved() const { return places_.all(); }  // all moves reported so far

    // By level: work of all CPUs together, times summed over CPUs. Valid after stop().
    std::vector<LevelTotal> totals() const;
    Lateness lateness() const;  // valid after stop()
    // Delays with which noise that follows the training began and ended. Valid after stop().
    Lateness late_to_follow() const;
    Lateness late_to_leave() const;
    // By stressor: a note on how it worked on its first CPU, or an empty text. Valid after stop().
    const std::vector<std::string>& notes() const { return notes_; }
    const std::vector<Facts>& facts() const { return facts_; }  // Stressor::facts() by stressor, of all its CPUs
    const std::vector<std::string>& not_kept() const { return not_kept_; }  // Stressor::not_kept() by stressor
    // The mechanism that enforces the level's limit, such as "cgroup v1"; empty if the level has no limit.
    std::string limited_by(const Intensity& intensity) const;

 private:
    struct Worker;
    void work(Worker& worker);
    // Waits for a table that this worker has not run yet; returns false if the team is to end.
    bool await_start(std::uint64_t tables_seen);
    void count_anew();
    void run_slots(Worker& worker);
    // Runs a slot. If the slot only sleeps and stress follows, it ends exactly on time.
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
    std::unique_ptr<LimitGroup> limits_;  // exists if a level has a limit; threads made later are in its groups
    std::vector<std::unique_ptr<Shared>> shared_;
    StopEvent stop_event_;
    std::latch made_;
    std::condition_variable go_;  // notifies changes of tables_ and the stop event; with mutex_
    std::uint64_t tables_ = 0;    // number of start() calls
    std::vector<Slot> table_;
    std::int64_t start_ns_ = 0;
    NoiseObservers observers_;
    std::optional<base::ControlFile> control_;  // exists if a level follows the training
    base::Descriptor news_;                     // an event descriptor
    std::atomic<std::size_t> working_;
    std::atomic<bool> failed_ = false;
    std::mutex mutex_;  // guards the error, notes and facts
    std::exception_ptr error_;
    ThreadPlaces places_;
    std::vector<std::string> notes_;
    std::vector<Facts> facts_;
    std::vector<std::string> not_kept_;
    std::vector<std::atomic<float>> short_;  // by level: achieved share, 0 unless too low
    std::vector<bool> reported_;
    std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace noisegen
