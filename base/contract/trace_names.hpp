// SPDX-License-Identifier: Apache-2.0
// Names in archives that several programs share.
#pragma once

namespace base::location {

inline constexpr const char* main = "main";                        // a training rank's steps and phases
inline constexpr const char* transport = "transport";              // a training rank's gradient exchange
inline constexpr const char* schedule = "schedule";                // a noise process: treatment of each slot
inline constexpr const char* noise_cpu = "cpu ";                   // prefix of a CPU's number: noise that ran there
inline constexpr const char* reader = "reader ";                   // prefix of a rank's input reader's number
inline constexpr const char* gpu_calls = "CUDA calls of thread ";  // prefix of the thread's system number

}  // namespace base::location

namespace base::region {

inline constexpr const char* step = "step";
inline constexpr const char* bucket_ready = "bucket_ready";
inline constexpr const char* bucket_exchange = "bucket_exchange";
inline constexpr const char* read = "read";  // a reader reads input
inline constexpr const char* parameter_exchange = "parameter_exchange";
inline constexpr const char* negotiate = "negotiate";    // ranks agree on what they exchange next
inline constexpr const char* quiet = "quiet";            // no noise is assigned
inline constexpr const char* alteration = "alteration";  // a value of the training is altered
inline constexpr const char* guard = "guard ";           // prefix of the guard's name: it checks state or gradients
inline constexpr const char* stored_weights = "stored weights";  // weights are read from memory whose bits flip
inline constexpr const char* repair = "repair";                  // a value that a guard found is repaired
inline constexpr const char* rollback = "rollback";              // the state is reset to that of an earlier step
inline constexpr const char* golden = "golden";                  // the state is compared with an unaltered training's
inline constexpr const char* training_stopped = "training stopped";  // control.pause has stopped the training

inline constexpr const char* code_encode = "code_encode";          // a rank encodes its blocks, or inputs of its update
inline constexpr const char* code_product = "code_product";        // a rank multiplies with its block
inline constexpr const char* code_decode = "code_decode";          // symbols of a product are compared and decoded
inline constexpr const char* code_regenerate = "code_regenerate";  // blocks are computed from those of other ranks
inline constexpr const char* code_rollback = "code_rollback";      // more errors than the code corrects
inline constexpr const char* code_probe = "code_probe";            // blocks are checked with vectors of ones

}  // namespace base::region

// Region groups; Vampir gives each group a colour.
namespace base::region_group {

inline constexpr const char* phases = "phases";      // phases of a training step
inline constexpr const char* exchange = "exchange";  // exchange of gradients and parameters
inline constexpr const char* io = "I/O";
inline constexpr const char* noise = "noise";
inline constexpr const char* no_noise = "no noise";  // quiet slots
inline constexpr const char* guards = "guards";

}  // namespace base::region_group

namespace base::attribute {

inline constexpr const char* step = "step";              // number of the training step, from 0
inline constexpr const char* unfinished = "unfinished";  // attribute of a step's end: the program ended within it
inline constexpr const char* bucket = "bucket";          // number of the bucket in its step, from 0
inline constexpr const char* bytes = "bytes";
inline constexpr const char* block = "block";              // number of the block in the run
inline constexpr const char* position = "position";        // number of the slot in its block
inline constexpr const char* level = "level";              // level of the factor; empty if it has a single one
inline constexpr const char* stressor = "stressor";        // stressor under the factor's label
inline constexpr const char* role = "role";                // role of the factor, see roles.hpp
inline constexpr const char* correlation = "correlation";  // links a call with the GPU activity that it started
inline constexpr const char* external_id = "External id";  // links an operator with its calls and kernels
inline constexpr const char* waits_for_stream = "waits for stream";  // attribute of a call; -1: the whole device
inline constexpr const char* tensor = "tensor";                      // path of the altered tensor
inline constexpr const char* element = "element";                    // index of the altered element, row by row
inline constexpr const char* bits = "bits";                          // flipped bits, counted from the left

}  // namespace base::attribute

namespace base::metric {

inline constexpr const char* replicas_differ = "replicas_differ";  // tensors of a rank that differ from most ranks'
inline constexpr const char* weight_distance = "weight_distance";  // relative L2 distance from an unaltered training

}  // namespace base::metric

namespace base {

inline constexpr const char* on_gpu = "on a GPU";

}  // namespace base

namespace base::property {

// Plain characters: an archive may be written after this process's static objects are destroyed.
inline constexpr const char* prefix = "crosstalk::";
inline constexpr const char* clock_identity = "crosstalk::clock_identity";
inline constexpr const char* realtime_at_start = "crosstalk::realtime_minus_monotonic_start_ns";
inline constexpr const char* realtime_at_end = "crosstalk::realtime_minus_monotonic_end_ns";
inline constexpr const char* schedule = "crosstalk::schedule";
inline constexpr const char* seed = "crosstalk::seed";
inline constexpr const char* design = "crosstalk::design";
inline constexpr const char* factors = "crosstalk::factors";
inline constexpr const char* watches = "crosstalk::watches";  // "threads" of trace-os, "trials" of trace-merge --jobs
inline constexpr const char* computes_while_stopped = "crosstalk::computes_while_stopped";  // "yes", on_gpu, "no"
inline constexpr const char* cpus = "crosstalk::cpus";                // location: CPUs that its thread is bound to
inline constexpr const char* stream = "crosstalk::stream";            // location: stream number on its accelerator
inline constexpr const char* annotations = "crosstalk::annotations";  // location: number of the annotated stream
inline constexpr const char* thread = "crosstalk::thread";            // location: system number of its thread
inline constexpr const char* gpu_activities = "crosstalk::gpu_activities";  // number of GPU activities in the archive
inline constexpr const char* gpu_dropped =
    "crosstalk::gpu_dropped";                                   // number of GPU activities that the recording dropped
inline constexpr const char* gpu_late = "crosstalk::gpu_late";  // number of GPU activities that came too late
inline constexpr const char* gpu_without_launch = "crosstalk::gpu_without_launch";
inline constexpr const char* gpu_before_launch = "crosstalk::gpu_before_launch";
inline constexpr const char* gpu_clock_error = "crosstalk::gpu_clock_error_ns";  // upper bound of the error
inline constexpr const char* cut_off = "crosstalk::cut_off";  // the reason why the program ended before its recording

}  // namespace base::property
