// SPDX-License-Identifier: Apache-2.0
// DIR/noise/token: a shared secret by which noise processes of one run recognise each other over TCP.
#pragma once

#include <array>
#include <filesystem>

namespace noisegen {

struct JobToken {
    using Half = std::array<char, 16>;
    Half hello{};   // sent by the side that connects
    Half answer{};  // sent by the side that listens
    bool operator==(const JobToken&) const = default;
};

// The first process creates a random token in `noise`, readable by its user only; all others read it. Outside of a run
// (`noise` empty) it is a constant. Throws Error for a file of another user, or one that others may read.
JobToken job_token(const std::filesystem::path& noise);

}  // namespace noisegen
