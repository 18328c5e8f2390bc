// SPDX-License-Identifier: Apache-2.0
// Matches messages that have arrived at a rank with receives, by sender and tag. Used by mailboxes of libraries that do
// not match messages themselves.
#pragma once

#include "ddl-workloads/transports/mailbox.hpp"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace ddl {

class Inbox {
 public:
    struct Arrival {
        Mailbox::Ticket ticket = 0;
        int from = 0;
        int tag = 0;
        std::size_t bytes = 0;
    };

    // May be called from any thread. After lose(), no more messages of that rank are expected.
    void deliver(int from, int tag, std::vector<std::byte> message);
    void lose(int from, const std::exception_ptr& why);

    // Like the functions of Mailbox. Receives from a lost rank throw the `why` of lose().
    void post(Mailbox::Ticket ticket, int from, int tag, std::span<std::byte> into);
    std::optional<Arrival> wait_any(std::span<const Mailbox::Ticket> tickets,
                                    std::optional<std::chrono::nanoseconds> at_most);
    bool cancel(Mailbox::Ticket ticket);

 private:
    struct Receive {
        int from = 0;
        int tag = 0;
        std::span<std::byte> into;
        std::size_t bytes = 0;  // of the message
        bool done = false;
    };
    using Sender = std::pair<int, int>;  // rank and tag

    void take(Receive& receive, const std::vector<std::byte>& message) const;
    std::optional<Arrival> taken(std::span<const Mailbox::Ticket> tickets);
    void throw_if_lost(std::span<const Mailbox::Ticket> tickets) const;

    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<Mailbox::Ticket, Receive> receives_;
    std::map<Sender, std::deque<Mailbox::Ticket>> waiting_;       // receives without a message, in order
    std::map<Sender, std::deque<std::vector<std::byte>>> early_;  // messages without a receive
    std::map<int, std::exception_ptr> lost_;
};

}  // namespace ddl
