// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/transports/arrivals.hpp"

#include <stdexcept>
#include <utility>

namespace ddl {

void Arrivals::expect(Mailbox& mailbox, int from, int tag, std::span<std::byte> into, std::function<void()> handle)
{
    mailbox.post_receive(next_, from, tag, into);
    handlers_.emplace(next_++, std::move(handle));
}

void Arrivals::handle_until(Mailbox& mailbox, const std::function<bool()>& is_over)
{
    if (failure_) std::rethrow_exception(failure_);
    try {
        while (!is_over()) handle_one(mailbox, std::nullopt);
    } catch (...) {
        fail();
        throw;
    }
}

void Arrivals::handle_arrived(Mailbox& mailbox)
try {
    while (!handlers_.empty() && handle_one(mailbox, std::chrono::nanoseconds{0})) {
    }
} catch (...) {
    fail();
}

// Returns false if no message came in time.
bool Arrivals::handle_one(Mailbox& mailbox, std::optional<std::chrono::nanoseconds> at_most)
{
    if (handlers_.empty()) throw std::logic_error{"no message is expected"};
    std::vector<Mailbox::Ticket> tickets;
    for (const auto& [ticket, handle] : handlers_) tickets.push_back(ticket);
    const std::optional<Mailbox::Ticket> ended = mailbox.wait_any(tickets, at_most);
    if (ended) handlers_.extract(*ended).mapped()();
    return ended.has_value();
}

// The handlers' owners end with the call that throws.
void Arrivals::fail()
{
    failure_ = std::current_exception();
    handlers_.clear();
}

}  // namespace ddl
