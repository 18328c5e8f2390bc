// SPDX-License-Identifier: Apache-2.0
// Messages from one rank to another, beside the collectives.
#pragma once

#include "trace-tools/otf2/write/recorder.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace ddl {

// Messages of one sender and tag arrive in the order in which they were sent; one that no receive has asked for
// yet is kept. All calls come on one thread. A receive is known by its ticket, a number of the caller's that no other
// receive under way has.
class Mailbox {
 public:
    using Ticket = std::uint64_t;

    static constexpr int tags = 1 << 22;  // from 0 on

    virtual ~Mailbox() = default;

    // Copies the message and does not wait for its receiver, which may be this rank itself.
    virtual void send(int to, int tag, std::span<const std::byte> message) = 0;

    // `into` is as long as the message and stays until the receive has ended.
    virtual void post_receive(Ticket ticket, int from, int tag, std::span<std::byte> into) = 0;

    // Waits until one of these receives has its message, which ends it, at most that long; none: none has. Throws Error
    // if none has and a rank that is to send one is gone.
    virtual std::optional<Ticket> wait_any(std::span<const Ticket> tickets,
                                           std::optional<std::chrono::nanoseconds> at_most = {}) = 0;

    // Ends a receive that has no message yet. False: it has one, and stays until wait_any() ends it.
    virtual bool cancel(Ticket ticket) = 0;

    // Advances messages under way. True while some of this rank's are, so that this is to be called again.
    virtual bool advance() { return false; }

    // Like Transport::record(), for messages that are not recorded by the calls that carry them.
    virtual void record(otf2::LocationRecorder* /*location*/) {}
};

}  // namespace ddl
