// SPDX-License-Identifier: Apache-2.0
// Measures the difference between clocks of different nodes by ping-pongs between processes.
#pragma once

#include "trace-tools/otf2/write/team.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace otf2 {

// Bounds the offset of another clock (theirs - ours) by ping-pongs. Each ping-pong gives a lower and an upper bound:
// their time was read after the question was sent and before the answer arrived. All of them together are tighter than
// the quickest one, because different ping-pongs are quick in different directions (Marzullo 1984).
class OffsetBounds {
 public:
    // Adds a ping-pong: the times on our clock, on theirs, and on ours again.
    void add(std::int64_t sent_ns, std::int64_t theirs_ns, std::int64_t received_ns);

    // The middle of the common bounds. If bounds contradict each other, as with drifting clocks, the result of the
    // quickest ping-pong.
    ClockOffset best() const;

 private:
    struct Bound {
        std::int64_t offset_ns = 0;
        std::int64_t at_ns = 0;  // time on our clock
    };
    static ClockOffset between(const Bound& least, const Bound& most);

    Bound least_;
    Bound most_;
    ClockOffset quickest_;
    bool any_ = false;
};

// For teams whose ranks can exchange blocking messages. On each node, the first rank exchanges ping-pongs with rank 0
// for all ranks that read its clock, until the bounds are tight and no longer improve, at most for a time that is
// divided among the nodes.
using Send = std::function<void(int to, std::span<const std::byte> message)>;
using Receive = std::function<void(int from, std::span<std::byte> message)>;
ClockOffset compare_clocks(Team& team, const std::string& clock_identity, const Send& send, const Receive& receive);

}  // namespace otf2
