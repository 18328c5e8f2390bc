// SPDX-License-Identifier: Apache-2.0
// Records the activities of this process's GPUs into its archive, if libcrosstalk-cupti.so is there.
#pragma once

#include "trace-tools/gpu/recording/activity_recorder.hpp"
#include "trace-tools/gpu/recording/source.hpp"

#include <atomic>
#include <mutex>

namespace gpu {

// Whether the user asks for it: CROSSTALK_TRACE_GPU=1.
bool activities_wanted();

// From here to finish(). One a process.
class GpuRecording final : private ActivitySink {
 public:
    // The recorder must outlive it. Throws Unavailable, one clear line, where there is no library for it, no CUPTI or
    // no GPU.
    explicit GpuRecording(otf2::Recorder& recorder);
    ~GpuRecording();
    GpuRecording(const GpuRecording&) = delete;
    GpuRecording& operator=(const GpuRecording&) = delete;

    // Requests of this thread to a GPU from here to leave(), and their activities, have this number as attribute
    // `External id`: for the region in which it asks.
    std::int64_t enter();
    void leave();

    // Before the recorder's. What goes wrong while recording, such as no room for a location, is thrown here as Error.
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
    std::mutex mutex_;  // guards what follows
    ActivityRecorder activities_;
    std::string failure_;
    const ActivitySource* source_;  // none: stopped
};

}  // namespace gpu
