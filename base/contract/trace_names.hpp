// SPDX-License-Identifier: Apache-2.0
// Names in archives by which programs that never meet understand each other.
#pragma once

namespace base::location {

inline constexpr const char* main = "main";            // of a training's rank: its steps and phases
inline constexpr const char* transport = "transport";  // .. what carries its exchange
inline constexpr const char* schedule = "schedule";    // of a noise process: what was assigned when
inline constexpr const char* noise_cpu = "cpu ";       // .. then a CPU's number: what ran there
inline constexpr const char* reader = "reader ";       // of a rank, then its number: a thread that reads input
inline constexpr const char* gpu_calls = "CUDA calls of thread ";  // .. then the system's number of the thread

}  // namespace base::location

namespace base::region {

inline constexpr const char* step = "step";
inline constexpr const char* bucket_ready = "bucket_ready";
inline constexpr const char* bucket_exchange = "bucket_exchange";
inline constexpr const char* read = "read";  // of input, by a reader
inline constexpr const char* parameter_exchange = "parameter_exchange";
inline constexpr const char* negotiate = "negotiate";                // ranks agree on what they exchange next
inline constexpr const char* quiet = "quiet";                        // nothing is assigned
inline constexpr const char* alteration = "alteration";              // a number of the training's is altered
inline constexpr const char* guard = "guard ";                       // then its name: it looks at state or gradients
inline constexpr const char* stored_weights = "stored weights";      // they are read from memory whose bits flip
inline constexpr const char* repair = "repair";                      // what a guard found is made good ..
inline constexpr const char* rollback = "rollback";                  // .. or the state is what it was some steps ago
inline constexpr const char* golden = "golden";                      // the state is compared with an unaltered one
inline constexpr const char* training_stopped = "training stopped";  // by control.pause

}  // namespace base::region

// Regions of a kind: Vampir gives each group a colour.
namespace base::region_group {

inline constexpr const char* phases = "phases";      // of a training step
inline constexpr const char* exchange = "exchange";  // of gradients and parameters
inline constexpr const char* io = "I/O";
inline constexpr const char* noise = "noise";
inline constexpr const char* no_noise = "no noise";  // slots of quiet
inline constexpr const char* guards = "guards";

}  // namespace base::region_group

namespace base::attribute {

inline constexpr const char* step = "step";              // number of the training step, from 0
inline constexpr const char* unfinished = "unfinished";  // of a step's end: the program ended inside of it
inline constexpr const char* bucket = "bucket";          // number in its step, from 0
inline constexpr const char* bytes = "bytes";
inline constexpr const char* block = "block";              // number in the run ..
inline constexpr const char* position = "position";        // .. of the slot in its block
inline constexpr const char* level = "level";              // of the factor, empty if it has one
inline constexpr const char* stressor = "stressor";        // what runs under the factor's label
inline constexpr const char* role = "role";                // what the factor is there for, see roles.hpp
inline constexpr const char* correlation = "correlation";  // the same of a call and of what it started on a GPU
inline constexpr const char* external_id = "External id";  // the same of an operator and of its calls and kernels
inline constexpr const char* waits_for_stream = "waits for stream";  // of a call; -1: for all of its device
inline constexpr const char* tensor = "tensor";                      // its path ..
inline constexpr const char* element = "element";                    // .. the number in it, row by row ..
inline constexpr const char* bits = "bits";                          // .. and those that flip, from the left

}  // namespace base::attribute

namespace base::metric {

inline constexpr const char* replicas_differ = "replicas_differ";  // tensors of a rank that are not those of most ranks
inline constexpr const char* weight_distance = "weight_distance";  // from an unaltered training, relative (L2)

}  // namespace base::metric

namespace base {

inline constexpr const char* on_gpu = "on a GPU";

}  // namespace base

namespace base::property {

// Plain characters: an archive may be written after the objects of this process are destroyed.
inline constexpr const char* prefix = "crosstalk::";
inline constexpr const char* clock_identity = "crosstalk::clock_identity";
inline constexpr const char* realtime_at_start = "crosstalk::realtime_minus_monotonic_start_ns";
inline constexpr const char* realtime_at_end = "crosstalk::realtime_minus_monotonic_end_ns";
inline constexpr const char* schedule = "crosstalk::schedule";
inline constexpr const char* seed = "crosstalk::seed";
inline constexpr const char* design = "crosstalk::design";
inline constexpr const char* factors = "crosstalk::factors";
inline constexpr const char* watches = "crosstalk::watches";                                // of trace-os: "threads"
inline constexpr const char* computes_while_stopped = "crosstalk::computes_while_stopped";  // "yes", on_gpu, "no"
inline constexpr const char* cpus = "crosstalk::cpus";                // of a location: those its thread is bound to
inline constexpr const char* stream = "crosstalk::stream";            // .. or its number on its accelerator
inline constexpr const char* annotations = "crosstalk::annotations";  // .. or of that whose annotations it has
inline constexpr const char* thread = "crosstalk::thread";            // .. or the system's number of its thread
inline constexpr const char* gpu_activities = "crosstalk::gpu_activities";  // of a process: those in the archive ..
inline constexpr const char* gpu_dropped = "crosstalk::gpu_dropped";        // .. those that the recording dropped
inline constexpr const char* gpu_late = "crosstalk::gpu_late";              // .. those that came too late for their row
inline constexpr const char* gpu_without_launch = "crosstalk::gpu_without_launch";
inline constexpr const char* gpu_before_launch = "crosstalk::gpu_before_launch";
inline constexpr const char* gpu_clock_error = "crosstalk::gpu_clock_error_ns";  // at most
inline constexpr const char* cut_off = "crosstalk::cut_off";  // what ended the program before its recording

}  // namespace base::property
