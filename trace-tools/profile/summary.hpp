// SPDX-License-Identifier: Apache-2.0
// Report of trace-info about an archive: for people, for programs, or only its problems.
#pragma once

#include "trace-tools/profile/profile.hpp"

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

namespace otf2 {

// A GPU in the whole run; times of its streams at once count once.
struct DeviceProfile {
    std::string name;
    std::uint32_t user = nowhere;        // process that uses it
    std::vector<std::uint32_t> streams;  // locations
    std::int64_t kernels = 0;            // of computing and exchange
    std::int64_t launched = 0;           // of these, those whose launch is known
    std::int64_t wall_ns = 0;            // from the first event of all to the last
    std::int64_t busy_ns = 0;            // a kernel computes
    std::int64_t exchange_ns = 0;
    std::int64_t copy_ns = 0;
};

struct Summary {
    const Archive& archive;
    const Profile& profile;
    std::vector<std::string> problems;  // unsound: events are missing, in the wrong order, refer to nothing
    std::vector<std::string> oddities;  // sound, but worth a word
    std::vector<DeviceProfile> devices = {};
    bool sound() const { return problems.empty(); }
};

// Summary of the reader's archive, after it was read into the profile, which is finished.
Summary summary(const Reader& reader, const Profile& profile);

void write_text(std::ostream& out, const Summary& summary);

// One object; names and units of its members as in Archive and Profile, what an archive does not state is null.
void write_json(std::ostream& out, const Summary& summary);

// A line for each problem and oddity, then whether the archive is sound.
void write_check(std::ostream& out, const Summary& summary);

}  // namespace otf2
