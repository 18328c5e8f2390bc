// SPDX-License-Identifier: Apache-2.0
// The GPUs of an archive: their streams, and what regions do on them and for them. Kinds of locations, roles and
// paradigms decide, so CUDA, HIP and what else has accelerators are alike.
#pragma once

#include "trace-tools/otf2/archive.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gpu {

enum class StreamWork : std::uint8_t { none, compute, exchange, copy };

// Kind of a region where the host visits it.
enum class Call : std::uint8_t { none, other, launch, synchronise, blocking_copy };

// The streams of one location group of kind accelerator; where streams are in the group of their process, as in older
// archives, those whose names begin alike: "CUDA[0:7]" and "CUDA[0:13]".
struct Device {
    std::string name;                         // "CUDA device 0", "CUDA[0]"
    std::uint32_t user = otf2::nowhere;       // the process that uses it
    std::vector<std::uint32_t> streams = {};  // locations, without those of annotations, where nothing runs
};

struct Accelerators {
    explicit Accelerators(const otf2::Archive& archive);

    bool any() const { return !devices.empty(); }
    bool is_stream(std::uint32_t location) const { return device_of[location] != otf2::nowhere; }

    std::vector<Device> devices;
    std::vector<std::uint32_t> device_of;  // by location; nowhere: no stream
    std::vector<std::uint32_t> user_of;    // by location: its process, of a stream the one that uses it
    std::vector<StreamWork> work_of;       // by region, where it is visited by a stream
    std::vector<Call> call_of;             // by region, where it is visited by the host
};

// Streams with that number on the device of a process that uses GPUs; -1: all.
std::vector<std::uint32_t> streams_numbered(const otf2::Archive& archive, const Accelerators& accelerators,
                                            std::uint32_t user, std::int64_t number);

}  // namespace gpu
