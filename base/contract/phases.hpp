// The phases of a training step. They partition it: in the trace, in steps.csv and in the control file.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace base {

// The numbers are part of the control file's layout.
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
    control_settle,
    other
};

// Those that are regions inside of `step`, in a step's order; the rest of the step is `other`.
inline constexpr std::array recorded_phases{
    TrainingPhase::load,       TrainingPhase::to_device,     TrainingPhase::forward,
    TrainingPhase::backward,   TrainingPhase::wait_exchange, TrainingPhase::update,
    TrainingPhase::checkpoint, TrainingPhase::control_delay, TrainingPhase::control_settle};

// "wait_exchange". parse_training_phase() throws UsageError for any other word, and for none and other.
std::string text(TrainingPhase phase);
TrainingPhase parse_training_phase(const std::string& word);

}  // namespace base
