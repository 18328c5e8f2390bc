// DIR/control/<host>: one mapped page through which noisegen asks training for a known delay, and training tells what
// it is doing. Lock-free, and safe if either side is killed: a request ends by itself at on_until_ns.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>

namespace base {

// What training is doing, so that noise can follow it. The numbers are part of the file's layout.
enum class TrainingPhase : std::uint32_t {
    none = 0,
    load,
    to_device,
    forward,
    backward,
    wait_exchange,
    update,
    checkpoint,
    control_delay,
    other
};

// "wait_exchange". parse_training_phase() throws UsageError for any other word, and for none and other.
std::string text(TrainingPhase phase);
TrainingPhase parse_training_phase(const std::string& word);

// The layout, version 1. All fields in native byte order, naturally aligned; the file is 4096 bytes.
struct ControlPage {
    static constexpr std::uint32_t magic_value = 0x58544c4b;  // "XTLK"
    static constexpr std::uint32_t current_version = 1;

    std::atomic<std::uint32_t> magic;
    std::atomic<std::uint32_t> version;
    alignas(64)
        std::atomic<std::int64_t> on_until_ns;  // written by noisegen: delay is asked for until then (CLOCK_MONOTONIC)
    alignas(64)
        std::atomic<std::uint64_t> acknowledged;  // written by training: counts the steps that looked at on_until_ns
    std::atomic<std::uint64_t> delayed;           // written by training: of those, the steps that delayed
    alignas(64) std::atomic<std::uint64_t> step;  // written by training: the step it is in, from 0
    std::atomic<std::uint32_t> phase;             // written by training: a TrainingPhase
    std::atomic<std::int64_t> updated_ns;         // written by training: when it last wrote (CLOCK_MONOTONIC)
    alignas(64) std::atomic<std::int64_t> followed_until_ns;  // written by noisegen: until then it sleeps on `phase`
};
static_assert(sizeof(ControlPage) <= 4096);
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

// What training does at each cut: tells the phase and when it began, and wakes those who sleep on it, if any.
void publish_phase(ControlPage& page, TrainingPhase phase, std::int64_t at_ns);

// What noise does: sleeps until the phase is another than `seen`, or until the deadline, or for some milliseconds.
// Returns the phase.
TrainingPhase sleep_on_phase(ControlPage& page, TrainingPhase seen, std::int64_t deadline_ns);

// Several processes of a host may open the same file; whoever comes first creates it.
class ControlFile {
 public:
    // Throws Error for a file of another version or size, std::system_error otherwise. A symlink is not followed.
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
