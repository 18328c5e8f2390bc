// SPDX-License-Identifier: Apache-2.0
// trace-info's report about an archive: for people, for programs, or only its problems.
#pragma once

#include "trace-tools/profile/profile.hpp"

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

namespace otf2 {

// A GPU over the whole run. Overlapping times of its streams count once.
struct DeviceProfile {
    std::string name;
    std::uint32_t user = nowhere;        // process that uses the GPU
    std::vector<std::uint32_t> streams;  // its streams, as indices of locations
    std::int64_t kernels = 0;            // number of kernels, computing and exchanging
    std::int64_t launched = 0;           // number of kernels whose launch is known
    std::int64_t wall_ns = 0;            // from the archive's first event to its last
    std::int64_t busy_ns = 0;            // time in which a kernel computes
    std::int64_t exchange_ns = 0;
    std::int64_t copy_ns = 0;
};

struct Summary {
    const Archive& archive;
    const Profile& profile;
    std::vector<std::string> problems;  // unsound: events missing, out of order, or with undefined references
    std::vector<std::string> oddities;  // sound, but worth reporting
    std::vector<DeviceProfile> devices = {};
    bool sound() const { return problems.empty(); }
};

// Summary of the reader's archive. `profile` must be finished and hold all its events.
Summary summary(const Reader& reader, const Profile& profile);

void write_text(std::ostream& out, const Summary& summary);

// Writes one JSON object; names and units of members are those of Archive and Profile, and unknown values are null.
void write_json(std::ostream& out, const Summary& summary);

// Writes one line for each problem and oddity, then whether the archive is sound.
void write_check(std::ostream& out, const Summary& summary);

}  // namespace otf2
