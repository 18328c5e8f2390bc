// Names in archives by which programs that never meet understand each other.
#pragma once

#include <string>

namespace base::location {

inline constexpr const char* main = "main";            // of a training's rank: its steps and phases
inline constexpr const char* transport = "transport";  // .. what carries its exchange
inline constexpr const char* schedule = "schedule";    // of a noise process: what was assigned when
inline constexpr const char* noise_cpu = "cpu ";       // .. then a CPU's number: what ran there

}  // namespace base::location

namespace base::region {

inline constexpr const char* step = "step";
inline constexpr const char* bucket_ready = "bucket_ready";
inline constexpr const char* bucket_exchange = "bucket_exchange";
inline constexpr const char* quiet = "quiet";                        // nothing is assigned
inline constexpr const char* training_stopped = "training stopped";  // by control.pause

}  // namespace base::region

namespace base::attribute {

inline constexpr const char* step = "step";      // number of the training step, from 0
inline constexpr const char* bucket = "bucket";  // number in its step, from 0
inline constexpr const char* bytes = "bytes";
inline constexpr const char* block = "block";        // number in the run ..
inline constexpr const char* position = "position";  // .. of the slot in its block
inline constexpr const char* level = "level";        // of the factor, empty if it has one
inline constexpr const char* stressor = "stressor";  // what runs under the factor's label
inline constexpr const char* role = "role";          // what the factor is there for, see roles.hpp

}  // namespace base::attribute

namespace base::property {

inline const std::string prefix = "crosstalk::";
inline const std::string clock_identity = prefix + "clock_identity";
inline const std::string realtime_at_start = prefix + "realtime_minus_monotonic_start_ns";
inline const std::string realtime_at_end = prefix + "realtime_minus_monotonic_end_ns";
inline const std::string schedule = prefix + "schedule";
inline const std::string seed = prefix + "seed";
inline const std::string design = prefix + "design";
inline const std::string factors = prefix + "factors";
inline const std::string computes_while_stopped = prefix + "computes_while_stopped";

}  // namespace base::property
