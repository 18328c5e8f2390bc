// SPDX-License-Identifier: Apache-2.0
// The steps of one device: sums over the activities that run on it, from event to event.
#pragma once

#include "base/columns/long_column.hpp"
#include "trace-tools/gpu/analysis/gpu_step.hpp"
#include "trace-tools/gpu/analysis/host_spans.hpp"
#include "trace-tools/gpu/analysis/launches.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace gpu {

struct Window {
    std::int64_t step = 0;
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
};

class DeviceSteps {
 public:
    using Sink = std::function<void(const GpuStep&)>;

    // The windows must be ordered and disjoint; the last one may still grow. Windows, host and sink must outlive this
    // object. `blank` contains rank and device.
    DeviceSteps(const GpuStep& blank, const base::LongColumn<Window>& windows, const HostSpans& host, const Sink& sink)
        : blank_{blank}, windows_{windows}, host_{host}, sink_{sink}, sums_{blank}
    {
    }

    // Accounts for the time until now, in which the state of the device and the host's delay did not change.
    void advance(std::int64_t now_ns);

    // Advances first. `launch` belongs to the kernel; null if unknown.
    void begin(StreamWork work, std::int64_t now_ns, const Launch* launch);
    void end(StreamWork work, std::int64_t now_ns);
    void delay(bool goes_on, std::int64_t now_ns);

    // Call after the last event: completes the remaining windows.
    void finish()
    {
        while (window_ < windows_.size()) advance(windows_[window_].end_ns);
    }

    // Host spans that end before this time are no longer needed.
    std::int64_t needed_from_ns() const { return idle_.empty() ? now_ns_ : idle_.front().begin_ns; }

 private:
    // A time in which nothing computes, for a reason not yet known.
    struct Idle {
        std::int64_t begin_ns = 0;
        std::int64_t end_ns = 0;
        bool exchange = false;
        bool copy = false;
    };
    enum class Next { none, unknown, known };

    void close();
    void spend(std::int64_t until_ns);
    void explain(Next next, const Launch* launch);
    void explain(const Idle& idle, Next next, const Launch* launch);
    IdleCause cause(const Idle& idle, std::int64_t at_ns, Next next, const Launch* launch) const;

    GpuStep blank_;
    const base::LongColumn<Window>& windows_;
    const HostSpans& host_;
    const Sink& sink_;
    std::size_t window_ = 0;
    std::int64_t now_ns_ = INT64_MIN;
    std::size_t computing_ = 0;  // number of running kernels
    std::size_t exchanging_ = 0;
    std::size_t copying_ = 0;
    bool delayed_ = false;
    std::vector<Idle> idle_;
    GpuStep sums_;
    std::vector<std::int64_t> delays_;
};

}  // namespace gpu
