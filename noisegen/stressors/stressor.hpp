// SPDX-License-Identifier: Apache-2.0
// Stressors: plug-ins that do one small piece of stress at a time. The team owns threads, time, rates, stopping and
// recording.
#pragma once

#include "base/cli/cards.hpp"
#include "base/contract/roles.hpp"
#include "base/system/launcher.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
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
    std::int64_t rest_until_ns = 0;     // CLOCK_MONOTONIC: nothing to do before then, the team sleeps; 0: go on
    std::int64_t stopped_from_ns = 0;   // it held the training stopped from then (CLOCK_MONOTONIC)
    std::int64_t stopped_until_ns = 0;  // until then; 0: it did not
    std::int64_t preparing_ns = 0;      // of its time: taking what it stresses with, no part of any rate
};

// Turn of a stressor: its slot, or with a duty each of its bursts.
struct Turn {
    std::int64_t begin_ns = 0;      // CLOCK_MONOTONIC: when the slot should have begun
    std::int64_t deadline_ns = 0;   // CLOCK_MONOTONIC: the turn is over then
    double bytes_per_s = 0.0;       // asked of this instance; 0: no byte rate was asked for
    double operations_per_s = 0.0;  // the same for operations
    bool limited() const { return bytes_per_s > 0.0 || operations_per_s > 0.0; }
};

// One instance per stressor and noise CPU; made, used and destroyed by the thread bound to that CPU, so that the memory
// it touches is near.
class Stressor {
 public:
    virtual ~Stressor() = default;

    virtual void begin(const Turn&) {}

    // About a millisecond of stress. Returns early rather than wait for others. Throws if it cannot continue.
    virtual Work step() = 0;

    // The turn is over: nothing of it may continue after the return.
    virtual void end() {}

    // How it works on this machine, if that is not plain ("pwrite: the file system refuses O_DIRECT"); for the records.
    virtual std::string note() const { return {}; }

    // The work that it should have done and could not ("2 processes of the job could not be frozen"), if anything: the
    // run then proves less.
    virtual std::string not_kept() const { return {}; }
};

// State that the instances of one stressor share (MPI, a listening socket); lives in the main thread, longer than
// they.
struct Shared {
    virtual ~Shared() = default;
};

// Where an instance runs.
struct Place {
    int cpu = 0;
    std::size_t index = 0;              // this CPU's place among those that run the stressor in this process
    std::size_t count = 1;              // how many do
    std::vector<int> cpus = {};         // all of them
    std::filesystem::path control_run;  // the run whose control file asks the training; empty if none was given
    std::set<pid_t> victims = {};       // processes of the job, instead of those in the control file
    std::filesystem::path noise;        // the run's directory of noise; empty outside of a run
    base::JobRank job;
    Shared* shared = nullptr;  // what the card's `share` made
    bool at_once = false;      // nothing is measured or held exactly: what takes long may be done while it stresses
};

// Demand of an instance on a GPU.
struct GpuNeeds {
    std::string device;   // its number, or auto
    base::Bytes memory;   // of it, beside what a context takes
    base::Percent spare;  // of all its memory: what must stay free for others
};

// Demand of an instance on the machine.
struct Needs {
    base::Bytes memory;
    base::Bytes disk;
    std::filesystem::path directory;  // where disk space and files are taken
    std::int64_t files = 0;           // inodes
    std::int64_t descriptors = 0;     // open at once
    bool mpi = false;
    std::optional<GpuNeeds> gpu = {};
};

struct StressorCard {
    enum class Cpus {
        own,   // stresses the CPU it runs on: a factorial gives each such stressor CPUs of its own
        one,   // needs one CPU, which is its own in a factorial: runs on the first of those it gets, the others are
               // quiet
        none,  // needs no CPU: runs on the first noise CPU, beside nothing else
    };
    std::string name;
    std::string summary;
    base::Role role = base::Role::treatment;
    std::vector<base::OptionCard> options = {};
    Cpus cpus = Cpus::own;
    bool acts_on_the_job = false;  // on processes of --victim, or of the control file
    bool counts_bytes = false;     // what its `rate` may limit
    bool counts_operations = false;

    // Reads every option; throws UsageError for a wrong value. Called before anything runs.
    std::function<Needs(const base::Settings&)> needs = [](const base::Settings&) { return Needs{}; };

    // Makes what the instances share; the place is that of the first of them. May be empty.
    std::function<std::unique_ptr<Shared>(const base::Settings&, const Place&)> share = {};

    // Makes nothing for a stressor whose stress is sleep, at all or on this CPU.
    std::function<std::unique_ptr<Stressor>(const base::Settings&, const Place&)> make = {};
};

// The option `limit`, for a card without the others of with_intensity().
base::OptionCard limit_option();

// The options of a card whose stress the team can hold back, after its own: rate, duty, period, arrival, limit, sched.
// The stressor itself reads none of them. The example shows a rate.
std::vector<base::OptionCard> with_intensity(const std::string& rate_example, std::vector<base::OptionCard> own = {});

}  // namespace noisegen
