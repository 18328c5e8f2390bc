// SPDX-License-Identifier: Apache-2.0
// Point-to-point messages between ranks.
#pragma once

#include "trace-tools/otf2/write/recorder.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace ddl {

// Messages with the same sender and tag arrive in the order in which they were sent; a message that arrives before its
// receive is posted is kept. All calls must come from one thread. The caller names each receive by a ticket, a number
// that no other pending receive has.
class Mailbox {
 public:
    using Ticket = std::uint64_t;

    static constexpr int tags = 1 << 22;          // valid tags are 0 to tags - 1
    static constexpr int tag_of_news = tags - 1;  // of the news board only

    virtual ~Mailbox() = default;

    // Copies the message and does not wait for the receiver, which may be this rank itself.
    virtual void send(int to, int tag, std::span<const std::byte> message) = 0;

    // `into` must be at least as long as the message and stay valid until the receive has ended.
    virtual void post_receive(Ticket ticket, int from, int tag, std::span<std::byte> into) = 0;

    // Waits until one of these receives has its message, for at most `at_most`, and ends that receive. Returns none if
    // time ran out. Throws Error if none has its message and a rank that should send one is gone.
    virtual std::optional<Ticket> wait_any(std::span<const Ticket> tickets,
                                           std::optional<std::chrono::nanoseconds> at_most = {}) = 0;

    // Cancels a receive that has no message yet. Returns false if the message has arrived; wait_any() then ends the
    // receive.
    virtual bool cancel(Ticket ticket) = 0;

    // Advances messages under way. True while some of this rank's messages are under way, so that it must be called
    // again.
    virtual bool advance() { return false; }

    // Like Transport::record(), for transports whose own calls do not record messages.
    virtual void record(otf2::LocationRecorder* /*location*/) {}
};

}  // namespace ddl
