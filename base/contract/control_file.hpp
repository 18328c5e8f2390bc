// SPDX-License-Identifier: Apache-2.0
// DIR/control/<host>: one mapped page through which noisegen requests a known delay or background work from the
// training, and the training publishes its step, its phase and its processes on this host. Lock-free, and safe if
// either side is killed: a request ends at on_until_ns.
#pragma once

#include "base/contract/phases.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>

#include <sys/types.h>

namespace base {

// Request of noisegen, for the length of a slot. The numbers are part of the file's layout.
enum class ControlRequest : std::uint32_t {
    none = 0,
    delay = 1,             // each step: barriers around a rest and a known delay
    sham = 2,              // each step: barriers around a rest
    checkpoint = 3,        // one checkpoint; the training waits until it is written
    checkpoint_async = 4,  // one checkpoint; the training waits until its state is copied
    loaders = 5,           // `value` threads read and decode the samples
};

// The layout, version 3. All fields in native byte order, naturally aligned; the file is 4096 bytes.
struct ControlPage {
    static constexpr std::uint32_t magic_value = 0x58544c4b;  // "XTLK"
    static constexpr std::uint32_t current_version = 3;
    static constexpr std::size_t most_processes = 256;

    std::atomic<std::uint32_t> magic;
    std::atomic<std::uint32_t> version;
    // Written by noisegen: `request` holds until then (CLOCK_MONOTONIC).
    alignas(64) std::atomic<std::int64_t> on_until_ns;
    std::atomic<std::uint32_t> request;     // written by noisegen: a ControlRequest
    std::atomic<std::int64_t> slot_end_ns;  // written by noisegen: a step that would end later ignores the request
    std::atomic<std::uint32_t> value;  // written by noisegen: parameter of the request, such as a number of threads
    alignas(64) std::atomic<std::uint64_t> acknowledged;  // written by training: number of steps that read on_until_ns
    std::atomic<std::uint64_t> controlled;  // written by training: number of steps that executed the request
    std::atomic<std::uint64_t> served;      // written by training: number of slots whose background work it started
    // Written by training: steps from reading a request for a delay to the step that executes it; 0 is as 1.
    std::atomic<std::uint32_t> steps_ahead;
    alignas(64) std::atomic<std::uint64_t> step;  // written by training: the step it is in, from 0
    std::atomic<std::uint32_t> phase;             // written by training: a TrainingPhase
    std::atomic<std::int64_t> updated_ns;         // written by training: time of its last write (CLOCK_MONOTONIC)
    alignas(64) std::atomic<std::int64_t> followed_until_ns;  // written by noisegen: it sleeps on `phase` until then
    // Written by training: its processes on this host; unused entries are 0. The low 22 bits are the PID. The bits
    // above are the process's start in clock ticks since boot (/proc/PID/stat), since PIDs are reused.
    alignas(64) std::array<std::atomic<std::uint64_t>, most_processes> processes;
};
static_assert(sizeof(ControlPage) <= 4096);
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

// The request in force at this time.
ControlRequest request(const ControlPage& page, std::int64_t now_ns);

// A controlled step rests at the place of the delay first, whether the delay follows or not. After a short rest the
// delay would change the rest of the step: work left from the previous step hides in it (with ranks that share a core,
// a delay of 4.9 % cost 3.7 %), and a core that pauses for 6 ms computes more slowly afterwards than one that pauses
// for 2 ms (results/seal/control-delay.md). Both effects are over within 8 ms, so they are equal with and without a
// delay.
constexpr std::int64_t control_rest_ns = 8'000'000;

// The step also rests after the delay; this rest is counted from the end of the delay. Rank 0 meets the other ranks
// within it: how late they see the end of the delay depends on how long they have waited, and must not lengthen the
// step.
constexpr std::int64_t control_rest_after_ns = 2'000'000;

constexpr std::int64_t control_settle_ns = control_rest_ns + control_rest_after_ns;

// A known delay may be given as a share of a quiet step: the median of these steps of rank 0, which must be free of
// noise.
constexpr std::size_t control_first_quiet_step = 3;  // earlier steps are warm-up
constexpr std::size_t control_quiet_steps = 7;

bool is_checkpoint(ControlRequest request);

// The requested checkpoint, reported once per slot; none for other requests. `slot_end_ns`: end of the last reported
// slot; the caller passes it to the next call unchanged.
ControlRequest new_checkpoint(const ControlPage& page, std::int64_t now_ns, std::int64_t& slot_end_ns);

// The request, delay or sham, for the step after the one that begins now, or `steps_ahead` after it. None if that step
// would not end within the request's slot, judged by the length of the last step without its control (0: unknown) and
// by whether the present step is controlled; then those in between are, too. A sham counts as long as a delay, so that
// both get the same steps of their slots.
ControlRequest request_for_next_step(const ControlPage& page, std::int64_t now_ns, std::int64_t last_plain_ns,
                                     bool this_is_controlled, std::int64_t delay_ns, std::int64_t steps_ahead = 1);

// Called by the training at each change of phase: publishes the phase and its start, and wakes processes that sleep on
// it.
void publish_phase(ControlPage& page, TrainingPhase phase, std::int64_t at_ns);

// Called by noisegen: sleeps until the phase differs from `seen`, until the deadline, or for some milliseconds. Returns
// the phase.
TrainingPhase sleep_on_phase(ControlPage& page, TrainingPhase seen, std::int64_t deadline_ns);

// The training's processes on this host that are alive.
std::set<pid_t> training_processes(const ControlPage& page);

// Lists this process in the page while the object lives. An entry left by a killed process is recognised by its start
// time. If the page is full of living processes, this process is not listed.
class TrainingProcess {
 public:
    explicit TrainingProcess(ControlPage& page);
    ~TrainingProcess();
    TrainingProcess(const TrainingProcess&) = delete;
    TrainingProcess& operator=(const TrainingProcess&) = delete;

 private:
    std::atomic<std::uint64_t>* slot_ = nullptr;
};

// The mapped control file. Several processes of a host may open the same file; the first one creates it.
class ControlFile {
 public:
    // Throws Error for a file of another version or size, and, as root, for a file of another user; std::system_error
    // for other errors. Symlinks are not followed.
    static ControlFile open(const std::filesystem::path& run, const std::string& host);

    ~ControlFile();
    ControlFile(ControlFile&& other) noexcept;
    ControlFile& operator=(ControlFile&&) = delete;
    ControlFile(const ControlFile&) = delete;

    ControlPage& page() { return *page_; }
    const ControlPage& page() const { return *page_; }

 private:
    explicit ControlFile(ControlPage* page) : page_{page} {}
    ControlPage* page_;
};

}  // namespace base
