// SPDX-License-Identifier: Apache-2.0
// Messages that are handled when they arrive, whatever the transport thread waits for.
#pragma once

#include "ddl-workloads/transports/mailbox.hpp"

#include <exception>
#include <functional>
#include <map>
#include <span>
#include <vector>

namespace ddl {

// Used on the transport thread, always with the transport's mailbox. Handlers may expect further messages.
class Arrivals {
 public:
    // Calls `handle` once when the message has arrived. See Mailbox::post_receive().
    void expect(Mailbox& mailbox, int from, int tag, std::span<std::byte> into, std::function<void()> handle);

    // Handles messages until `is_over()`, which is asked after each message. Throws if that cannot come about because a
    // rank is gone.
    void handle_until(Mailbox& mailbox, const std::function<bool()>& is_over);

    // Handles the messages that have arrived. An error is thrown by the next handle_until().
    void handle_arrived(Mailbox& mailbox);

    bool empty() const { return handlers_.empty(); }

 private:
    bool handle_one(Mailbox& mailbox, std::optional<std::chrono::nanoseconds> at_most);
    void fail();

    std::map<Mailbox::Ticket, std::function<void()>> handlers_;
    Mailbox::Ticket next_ = Mailbox::Ticket{1} << 32U;  // above the tickets of those who wait for their messages
    std::exception_ptr failure_;
};

}  // namespace ddl
