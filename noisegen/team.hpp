// One thread per noise CPU, bound to it: works off the chip table at absolute times and tells what it did, phase by
// phase.
#pragma once

#include "noisegen/chip_table.hpp"
#include "noisegen/stop_bell.hpp"

#include <atomic>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace noisegen {

// What a noise CPU did between two times, and what was asked of it.
struct Level {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    double requested_per_s = 0.0;  // of this CPU, in the unit of the dose's rate, on average; 0: as fast as it goes
    double requested_duty = 0.0;   // 0 to 1
    Work work;
    std::int64_t busy_ns = 0;    // in bursts
    std::int64_t waited_ns = 0;  // of that: for its CPU, on which others ran

    double seconds() const { return static_cast<double>(end_ns - begin_ns) * 1e-9; }
    double bytes_per_s() const { return per_second(work.bytes); }
    double operations_per_s() const { return per_second(work.operations); }
    // Share of the time in which it had both its turn and its CPU.
    double duty() const
    {
        return end_ns > begin_ns ? static_cast<double>(busy_ns - waited_ns) * 1e-9 / seconds() : 0.0;
    }

 private:
    double per_second(std::uint64_t amount) const
    {
        return end_ns > begin_ns ? static_cast<double>(amount) / seconds() : 0.0;
    }
};

// What a noise CPU did in one chip.
struct PhaseDone {
    const Chip* chip = nullptr;
    std::optional<std::size_t> dose;  // what was assigned to this CPU; none: quiet
    Level level;                      // from when it really began to when it ended
};

// A dose on one CPU, or on all, over the whole run.
struct DoseTotal {
    std::uint64_t phases = 0;
    std::int64_t on_ns = 0;  // in its phases; of several CPUs the sum
    Work work;
    std::int64_t busy_ns = 0;
    std::int64_t waited_ns = 0;
    double requested_per_s = 0.0;
    double requested_duty = 0.0;
    std::size_t cpus = 0;  // that ran it

    // Achieved by all these CPUs together while the dose was on.
    double bytes_per_s() const { return per_second(work.bytes); }
    double operations_per_s() const { return per_second(work.operations); }
    double duty() const
    {
        return on_ns == 0 ? 0.0 : static_cast<double>(busy_ns - waited_ns) / static_cast<double>(on_ns);
    }

 private:
    double per_second(std::uint64_t amount) const
    {
        return on_ns == 0 ? 0.0
                          : static_cast<double>(amount) * static_cast<double>(cpus) * 1e9 / static_cast<double>(on_ns);
    }
};

// Of the same CPU; the requests are those of the level.
void add(DoseTotal& total, const Level& level);

// The share of the dose's rate that it had, or of its duty if it has no rate; 1 if neither was asked for.
double reached(const Intensity& intensity, const DoseTotal& total);
double reached(const Intensity& intensity, const PhaseDone& phase);

// Late starts of chips and bursts, in ns.
struct Lateness {
    std::int64_t median = 0;
    std::int64_t p99 = 0;
    std::int64_t worst = 0;
};

// A rate or a duty counts as reached from this share of it on.
constexpr double rate_kept = 0.97;
// And as exceeded from this share on: steps so large that one alone is more than the time allows.
constexpr double rate_exceeded = 1.05;

class Starvation;

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

    // Called by the noise threads after each phase, with the index of the CPU.
    using OnPhase = std::function<void(std::size_t, const PhaseDone&)>;
    // Called by them about every tenth of a second while a dose is on, with the phase so far and what was done since
    // the last call.
    using OnLevel = std::function<void(std::size_t, const PhaseDone&, const Level&)>;

    // Called by them when a dose that follows the training goes on or off, with the phase so far, and at what time.
    using OnFollowed = std::function<void(std::size_t, const PhaseDone&, bool, std::int64_t)>;

    // Called by them when a step held the training stopped, with the phase so far, from when and until when.
    using OnStopped = std::function<void(std::size_t, const PhaseDone&, std::int64_t, std::int64_t)>;

    void start(std::vector<Chip> table, std::int64_t start_ns, OnPhase on_phase, OnLevel on_level = {},
               OnFollowed on_followed = {}, OnStopped on_stopped = {});

    // Waits until there is something to tell (done, failed, newly short), the descriptor can be read, or the time has
    // come.
    void wait_for_news(std::int64_t deadline_ns, int descriptor) const;

    // Has every thread come to the table's end (or failed)?
    bool done() const { return working_.load() == 0; }
    bool failed() const { return failed_.load(); }

    // Ends the stress, waits for all threads and throws what one of them threw.
    void stop();

    std::uint64_t bytes() const;  // so far, of all CPUs; phases still going on included

    // Doses that do not reach their rate or duty: the share reached on the first CPU that noticed. Each is told once,
    // about a second of its stress after it begins.
    std::vector<std::pair<std::size_t, double>> newly_short();

    // After stop(): by dose, all CPUs together (time: the sum over CPUs).
    std::vector<DoseTotal> totals() const;
    Lateness lateness() const;  // after stop()
    // How late noise that follows the training began and ended, each time. After stop().
    Lateness late_to_follow() const;
    Lateness late_to_leave() const;
    // How each stressor worked on its first CPU, by stressor; empty if it has nothing to tell. After stop().
    std::vector<std::string> notes() const;

 private:
    struct Worker;
    class Stress;
    void work(Worker& worker);
    void run_phases(Worker& worker);
    // A chip that only sleeps ends on time if stress follows it.
    PhaseDone run_phase(Worker& worker, const Starvation& starvation, const Chip& chip, bool stress_follows);
    std::optional<std::size_t> dose_of(const Worker& worker, const Chip& chip) const;
    bool stresses(const Worker& worker, const Chip& chip) const;
    Lateness lateness(std::vector<std::int64_t> Worker::*times) const;
    void fail(std::exception_ptr error);
    void tell_news();

    const Schedule& schedule_;
    Setup setup_;
    std::vector<std::unique_ptr<Shared>> shared_;
    StopBell bell_;
    std::latch made_;
    std::promise<bool> go_;
    std::shared_future<bool> going_;
    std::vector<Chip> table_;
    std::int64_t start_ns_ = 0;
    OnPhase on_phase_;
    OnLevel on_level_;
    OnFollowed on_followed_;
    OnStopped on_stopped_;
    std::optional<base::ControlFile> control_;  // if a dose follows the training
    int news_ = -1;                             // an event
    std::atomic<std::size_t> working_;
    std::atomic<bool> failed_ = false;
    std::mutex mutex_;  // of the error and the notes
    std::exception_ptr error_;
    std::vector<std::string> notes_;
    std::vector<std::atomic<float>> short_;  // by dose: the share reached, 0 while all is well
    std::vector<bool> told_;
    bool started_ = false;
    std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace noisegen
