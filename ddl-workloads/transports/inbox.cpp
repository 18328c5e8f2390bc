// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/transports/inbox.hpp"

#include "base/error.hpp"

#include <algorithm>

namespace ddl {

void Inbox::deliver(int from, int tag, std::vector<std::byte> message)
{
    {
        const std::lock_guard lock{mutex_};
        const auto waiting = waiting_.find({from, tag});
        if (waiting == waiting_.end()) {
            early_[{from, tag}].push_back(std::move(message));
            return;
        }
        take(receives_.at(waiting->second.front()), message);
        waiting->second.pop_front();
        if (waiting->second.empty()) waiting_.erase(waiting);
    }
    changed_.notify_all();
}

void Inbox::lose(int from, const std::exception_ptr& why)
{
    {
        const std::lock_guard lock{mutex_};
        lost_.try_emplace(from, why);
    }
    changed_.notify_all();
}

void Inbox::post(Mailbox::Ticket ticket, int from, int tag, std::span<std::byte> into)
{
    const std::lock_guard lock{mutex_};
    const auto [posted, is_new] = receives_.try_emplace(ticket, Receive{.from = from, .tag = tag, .into = into});
    if (!is_new) base::fail("a receive with the ticket ", ticket, " is already in flight");
    const auto early = early_.find({from, tag});
    if (early == early_.end()) {
        waiting_[{from, tag}].push_back(ticket);
        return;
    }
    take(posted->second, early->second.front());
    early->second.pop_front();
    if (early->second.empty()) early_.erase(early);
}

std::optional<Inbox::Arrival> Inbox::wait_any(std::span<const Mailbox::Ticket> tickets,
                                              std::optional<std::chrono::nanoseconds> at_most)
{
    std::optional<Arrival> arrival;
    const auto is_over = [&] {
        arrival = taken(tickets);
        if (!arrival) throw_if_lost(tickets);
        return arrival.has_value();
    };
    std::unique_lock lock{mutex_};
    if (at_most)
        changed_.wait_for(lock, *at_most, is_over);
    else
        changed_.wait(lock, is_over);
    return arrival;
}

bool Inbox::cancel(Mailbox::Ticket ticket)
{
    const std::lock_guard lock{mutex_};
    const auto found = receives_.find(ticket);
    if (found == receives_.end()) base::fail("no receive with the ticket ", ticket, " is in flight");
    if (found->second.done) return false;
    const auto waiting = waiting_.find({found->second.from, found->second.tag});
    std::erase(waiting->second, ticket);
    if (waiting->second.empty()) waiting_.erase(waiting);
    receives_.erase(found);
    return true;
}

void Inbox::take(Receive& receive, const std::vector<std::byte>& message) const
{
    if (message.size() > receive.into.size())
        base::fail("a message of ", message.size(), " bytes from rank ", receive.from, ", tag ", receive.tag,
                   ", where at most ", receive.into.size(), " are expected");
    std::copy(message.begin(), message.end(), receive.into.begin());
    receive.bytes = message.size();
    receive.done = true;
}

std::optional<Inbox::Arrival> Inbox::taken(std::span<const Mailbox::Ticket> tickets)
{
    for (const Mailbox::Ticket ticket : tickets) {
        const auto found = receives_.find(ticket);
        if (found == receives_.end()) base::fail("no receive with the ticket ", ticket, " is in flight");
        const Receive& receive = found->second;
        if (!receive.done) continue;
        const Arrival arrival{.ticket = ticket, .from = receive.from, .tag = receive.tag, .bytes = receive.bytes};
        receives_.erase(found);
        return arrival;
    }
    return std::nullopt;
}

void Inbox::throw_if_lost(std::span<const Mailbox::Ticket> tickets) const
{
    for (const Mailbox::Ticket ticket : tickets)
        if (const auto lost = lost_.find(receives_.at(ticket).from); lost != lost_.end())
            std::rethrow_exception(lost->second);
}

}  // namespace ddl
