// SPDX-License-Identifier: Apache-2.0
// The GPUs of an archive: their streams, and the role of regions on streams and on hosts. Location kinds, roles and
// paradigms decide, so CUDA, HIP and other accelerators are treated alike.
#pragma once

#include "trace-tools/otf2/archive.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gpu {

enum class StreamWork : std::uint8_t { none, compute, exchange, copy };

// Kind of a region when a host visits it.
enum class Call : std::uint8_t { none, other, launch, synchronise, blocking_copy };

// The streams of a location group of kind accelerator. In older archives streams are in the group of their process;
// then those with a common prefix form a device: "CUDA[0:7]" and "CUDA[0:13]".
struct Device {
    std::string name;                         // such as "CUDA device 0" or "CUDA[0]"
    std::uint32_t user = otf2::nowhere;       // the process that uses it
    std::vector<std::uint32_t> streams = {};  // locations, without rows for annotations
};

struct Accelerators {
    explicit Accelerators(const otf2::Archive& archive);

    bool any() const { return !devices.empty(); }
    bool is_stream(std::uint32_t location) const { return device_of[location] != otf2::nowhere; }

    std::vector<Device> devices;
    std::vector<std::uint32_t> device_of;  // by location; nowhere: not a stream
    std::vector<std::uint32_t> user_of;    // by location: its process; for a stream, the process that uses it
    std::vector<StreamWork> work_of;       // by region, if a stream visits it
    std::vector<Call> call_of;             // by region, if a host visits it
};

// The streams with that number on the devices of a process; -1: all its streams.
std::vector<std::uint32_t> streams_numbered(const otf2::Archive& archive, const Accelerators& accelerators,
                                            std::uint32_t user, std::int64_t number);

}  // namespace gpu
