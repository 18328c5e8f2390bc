// SPDX-License-Identifier: Apache-2.0
// Stressors: plug-ins that do one small piece of stress at a time. The team handles threads, time, rates, stopping and
// recording.
#pragma once

#include "base/cli/cards.hpp"
#include "base/contract/roles.hpp"
#include "base/system/launcher.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <sys/types.h>

namespace noisegen {

// Work of one step.
struct Work {
    std::uint64_t bytes = 0;
    std::uint64_t operations = 0;
    std::int64_t rest_until_ns = 0;     // CLOCK_MONOTONIC: nothing to do until then, the team sleeps; 0: continue
    std::int64_t stopped_from_ns = 0;   // CLOCK_MONOTONIC: when the step stopped the training
    std::int64_t stopped_until_ns = 0;  // when the training continued; 0: it was not stopped
    std::int64_t preparing_ns = 0;      // time spent on setup, such as allocation; no part of any rate
};

// A stressor's turn: its slot, or with a duty each of its bursts.
struct Turn {
    std::int64_t begin_ns = 0;      // CLOCK_MONOTONIC: planned start of the slot
    std::int64_t deadline_ns = 0;   // CLOCK_MONOTONIC: end of the turn
    double bytes_per_s = 0.0;       // byte rate for this instance; 0: none
    double operations_per_s = 0.0;  // operation rate for this instance; 0: none
    bool limited() const { return bytes_per_s > 0.0 || operations_per_s > 0.0; }
};

// Lists of words by the name of their member in noise.json.
using Facts = std::map<std::string, std::vector<std::string>>;

// A stressor has one instance per noise CPU. The thread bound to that CPU creates, uses and destroys it, so that its
// memory is near.
class Stressor {
 public:
    virtual ~Stressor() = default;

    virtual void begin(const Turn&) {}

    // Does about a millisecond of stress. Returns early rather than waiting for others. Throws if it cannot continue.
    virtual Work step() = 0;

    // Called at the end of the turn: no work of it may continue after the return.
    virtual void end() {}

    // For the records: how the stressor works on this machine, if that is unusual ("pwrite: the file system refuses
    // O_DIRECT").
    virtual std::string note() const { return {}; }

    // For the records: facts for programs to read. Each is a list of words and becomes a member of the stressor's entry
    // in noise.json.
    virtual Facts facts() const { return {}; }

    // Work that it could not do as planned ("2 processes of the job could not be frozen"), if any; the run then proves
    // less.
    virtual std::string not_kept() const { return {}; }
};

// State that the instances of one stressor share (MPI, a listening socket). It lives in the main thread and outlives
// the instances.
struct Shared {
    virtual ~Shared() = default;
};

// The CPU and context of an instance.
struct Place {
    int cpu = 0;
    std::size_t index = 0;              // index of this CPU among those that run the stressor in this process
    std::size_t count = 1;              // number of these CPUs
    std::vector<int> cpus = {};         // these CPUs
    std::filesystem::path control_run;  // the run whose control file is used; empty if none was given
    std::set<pid_t> victims = {};       // processes of the job, instead of those in the control file
    std::filesystem::path noise;        // the run's directory of noise; empty outside of a run
    base::JobRank job;
    Shared* shared = nullptr;  // result of the card's `share`
    bool at_once = false;      // nothing is measured or timed exactly: lengthy setup may happen during stress
};

// Demand of an instance on a GPU.
struct GpuNeeds {
    std::string device;   // number of the GPU, or "auto"
    base::Bytes memory;   // GPU memory needed, without that of the context
    base::Percent spare;  // share of the GPU's memory that must stay free for others
};

// Demand of an instance on the machine.
struct Needs {
    base::Bytes memory{};
    base::Bytes disk{};
    std::filesystem::path directory{};  // where disk space and files are needed
    std::int64_t files = 0;             // inodes
    std::int64_t descriptors = 0;       // open at the same time
    bool mpi = false;
    std::optional<GpuNeeds> gpu = {};
};

struct StressorCard {
    enum class Cpus {
        own,   // stresses the CPU it runs on: a factorial gives each such stressor CPUs of its own
        one,   // runs on the first of its CPUs (of its own CPUs in a factorial); the others are quiet
        none,  // needs no CPU: one instance, on the first noise CPU
    };
    std::string name;
    std::string summary;
    base::Role role = base::Role::treatment;
    std::vector<base::OptionCard> options = {};
    Cpus cpus = Cpus::own;
    bool acts_on_the_job = false;  // acts on the processes of --victim or of the control file
    bool runs_processes = false;   // processes of its own do the work; when its thread waits for a CPU, they have it
    bool counts_bytes = false;     // `rate` may be in bytes/s; below: in operations/s
    bool counts_operations = false;

    // Reads every option; throws UsageError for an invalid value. Called before anything runs.
    std::function<Needs(const base::Settings&)> needs = [](const base::Settings&) { return Needs{}; };

    // Makes the state that the instances share; `place` is that of the first instance. May be empty.
    std::function<std::unique_ptr<Shared>(const base::Settings&, const Place&)> share = {};

    // Returns null if the instance has nothing to do: its stress is to sleep, or it has no work on this CPU.
    std::function<std::unique_ptr<Stressor>(const base::Settings&, const Place&)> make = {};
};

// The option `limit`, for a card without the other options of with_intensity().
base::OptionCard limit_option();

// Appends rate, duty, period, arrival, limit and sched to a card's own options: for stressors that the team can slow
// down. The stressor itself reads none of them. The example shows a rate.
std::vector<base::OptionCard> with_intensity(const std::string& rate_example, std::vector<base::OptionCard> own = {});

}  // namespace noisegen
