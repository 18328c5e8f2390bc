// SPDX-License-Identifier: Apache-2.0
// Records the activities of this process's GPUs into its archive, using libcrosstalk-cupti.so if available.
#pragma once

#include "trace-tools/gpu/recording/activity_recorder.hpp"
#include "trace-tools/gpu/recording/source.hpp"

#include <atomic>
#include <mutex>

namespace gpu {

// True if the user requests it by CROSSTALK_TRACE_GPU=1.
bool activities_wanted();

// Records from construction to finish(). Only one may exist in a process.
class GpuRecording final : private ActivitySink {
 public:
    // The recorder must outlive it. Throws Unavailable with a one-line message if the library, CUPTI or a GPU is
    // missing.
    explicit GpuRecording(otf2::Recorder& recorder);
    ~GpuRecording();
    GpuRecording(const GpuRecording&) = delete;
    GpuRecording& operator=(const GpuRecording&) = delete;

    // GPU calls of this thread between enter() and leave(), and their activities, get the returned number as attribute
    // `External id`, which connects them with the region that makes the calls.
    std::int64_t enter();
    void leave();

    // Call before the recorder's finish(). Errors while recording, such as a lack of memory for a location, are thrown
    // here as Error.
    ActivitySummary finish();

 private:
    void look(const ClockPair& look) override;
    void activity(const Activity& activity) override;
    void waits_for(std::uint32_t correlation, std::int64_t stream) override;
    void belongs_to(std::uint32_t correlation, std::int64_t id) override;
    void dropped(std::uint64_t records) override;
    template <class Take>
    void take(const Take& take_it);

    std::atomic<std::int64_t> entered_ = 0;
    std::mutex mutex_;  // guards all members below
    ActivityRecorder activities_;
    std::string failure_;
    const ActivitySource* source_;  // null: stopped
};

}  // namespace gpu
