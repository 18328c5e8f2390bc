// SPDX-License-Identifier: Apache-2.0
// DIR/noise/token: what noise processes of one run know each other by when they meet over TCP.
#pragma once

#include <array>
#include <filesystem>

namespace noisegen {

struct JobToken {
    using Half = std::array<char, 16>;
    Half hello{};   // of the side that connects
    Half answer{};  // of the side that listens
    bool operator==(const JobToken&) const = default;
};

// The first process makes it in `noise`, random, for its user's eyes only; all others read it. Outside of a run (empty)
// it is the same for all. Throws Error for a file of another user, or that others may read.
JobToken job_token(const std::filesystem::path& noise);

}  // namespace noisegen
