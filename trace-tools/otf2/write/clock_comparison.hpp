// SPDX-License-Identifier: Apache-2.0
// How clocks of different nodes differ: from ping-pongs between their processes.
#pragma once

#include "trace-tools/otf2/write/team.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace otf2 {

// Bounds of the offset of another clock, by ping-pongs. Each bounds the offset (theirs - ours) from both sides: their
// time was read after the question was sent, and before the answer came. Together they bound it closer than the
// quickest of them, because the way there is quick in one, and the way back in another (Marzullo 1984).
class OffsetBounds {
 public:
    // Times on our clock, on theirs, and on ours again.
    void add(std::int64_t sent_ns, std::int64_t theirs_ns, std::int64_t received_ns);

    // The middle of what all allow. Where they contradict each other, as clocks do that drift: of the quickest one.
    ClockOffset best() const;

 private:
    struct Bound {
        std::int64_t offset_ns = 0;
        std::int64_t at_ns = 0;  // on our clock
    };
    static ClockOffset between(const Bound& least, const Bound& most);

    Bound least_;
    Bound most_;
    ClockOffset quickest_;
    bool any_ = false;
};

// For a team whose ranks can send each other blocking messages. A node's first rank asks rank 0 for all ranks
// that read its clock: until its bounds are close and stay so, and at most for a time that is shared among the nodes.
using Send = std::function<void(int to, std::span<const std::byte> message)>;
using Receive = std::function<void(int from, std::span<std::byte> message)>;
ClockOffset compare_clocks(Team& team, const std::string& clock_identity, const Send& send, const Receive& receive);

}  // namespace otf2
