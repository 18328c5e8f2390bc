// SPDX-License-Identifier: Apache-2.0
// A trace of PyTorch's profiler: slices by process and row.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace convert {

// Kind of an event, from its category. On a GPU only kernels compute: annotations repeat a host range around its
// kernels, and synchronisations are host waits as seen by CUPTI.
enum class Activity : std::uint8_t { host, call, kernel, copy, annotation, synchronisation, profiler };

// Kind of a category, given in lower case: "kernel", "gpu_memcpy", "cuda_runtime"; PyTorch 1.8 to 1.12 wrote "Runtime".
Activity activity_of(const std::string& category);
bool on_device(Activity activity);

// Region name for the steps that torch.profiler marks; the number in "ProfilerStep#5" becomes an attribute.
inline constexpr const char* profiler_step = "ProfilerStep";

struct Slice {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    std::uint32_t region = 0;                             // index into KinetoTrace::regions
    std::array<std::int64_t, 4> numbers{-1, -1, -1, -1};  // correlation, External id, bytes, step; -1: unknown
};

// One end of an arrow: from a launch to its kernel ("ac2g"), from an operator to its part of backward ("fwdbwd").
struct FlowEnd {
    std::int64_t at_ns = 0;
    std::int64_t id = 0;     // equal at both ends
    std::uint32_t kind = 0;  // index into KinetoTrace::flow_kinds
};

struct KinetoRow {
    std::string name;
    std::vector<Slice> slices;
    std::vector<Slice> beside;  // rows of a device: annotations and synchronisations, which are not work of the GPU
    std::vector<FlowEnd> flow_ends;
};

struct KinetoProcess {
    std::string name;
    std::map<std::string, KinetoRow> rows;  // by tid
    bool device = false;
    std::string launcher;  // key of the process that uses this device; empty: this is a process
};

struct KinetoRegion {
    std::string name;
    std::string category;  // in lower case
    Activity activity = Activity::host;
};

// Counts of dropped, repaired and changed parts of the file.
struct KinetoRemarks {
    std::uint64_t repairs = 0;
    std::uint64_t without_launch = 0;
    std::uint64_t before_launch = 0;
    std::uint64_t never_ended = 0;                  // begin events ('B') without an end event
    std::uint64_t never_begun = 0;                  // end events ('E') without a begin event
    std::map<std::string, std::uint64_t> left_out;  // number of dropped items, such as "instant events"
};

struct KinetoTrace {
    std::vector<KinetoRegion> regions;
    std::vector<std::string> flow_kinds;
    std::map<std::string, KinetoProcess> processes;  // by pid; "PID (device)" if a process has the same number
    KinetoRemarks remarks;
};

}  // namespace convert
