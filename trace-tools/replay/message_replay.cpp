// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/replay/message_replay.hpp"

#include "trace-tools/replay/critical_path/recycled.hpp"

#include <boost/smart_ptr/make_local_shared.hpp>

#include <algorithm>

namespace replay {

// Returns the oldest message of the route that lacks this half (send or receive), or a new message.
MessageReplay::MessagePtr MessageReplay::match(const Route& route, bool sends)
{
    Unmatched& waiting = of_route(route);
    if (waiting.messages.empty() || waiting.sent == sends) {
        waiting.sent = sends;
        waiting.messages.push_back(boost::allocate_local_shared<Message>(Recycled<Message>{}));
        waiting.messages.back()->communicator = route.first.communicator;
        return waiting.messages.back();
    }
    MessagePtr message = std::move(waiting.messages.front());
    waiting.messages.pop_front();
    return message;
}

// Routes without unmatched messages are kept for the next message, until there are too many.
MessageReplay::Unmatched& MessageReplay::of_route(const Route& route)
{
    if (const auto known = unmatched_.find(route); known != unmatched_.end()) return known->second;
    if (unmatched_.size() >= most_routes_) {
        std::erase_if(unmatched_, [](const auto& one) { return one.second.messages.empty(); });
        most_routes_ = std::max(most_routes_, 2 * unmatched_.size());
    }
    return unmatched_[route];
}

void MessageReplay::send(std::uint32_t location, const otf2::MessageRecord& message)
{
    const auto rank = state_.rank_of(message.communicator, location);
    if (!rank) return;
    const Channel channel{.communicator = message.communicator, .sender = *rank, .tag = message.tag};
    MessagePtr sent = match({channel, message.peer}, true);
    sent->sent = true;
    sent->sender = state_.arrival(location);
    if (message.request == otf2::no_request)
        locations_[location].blocking_sends.push_back(std::move(sent));
    else
        locations_[location].sends.open(message.request, std::move(sent));
}

void MessageReplay::complete_send(std::uint32_t location, std::uint64_t request)
{
    if (state_.locations[location].in_mpi == 0) return;
    if (auto sent = locations_[location].sends.close(request))
        locations_[location].completed_sends.push_back(std::move(*sent));
}

// Returns null if
// 1. the location is not a rank of the communicator, or
// 2. it is not in an MPI call.
MessageReplay::MessagePtr MessageReplay::post(std::uint32_t location, const Channel& channel)
{
    const auto rank = state_.find_rank(channel.communicator, location);
    if (!rank) return nullptr;
    MessagePtr message = match({channel, *rank}, false);
    message->posted = true;
    message->receiver = state_.arrival(location);
    if (const boost::local_shared_ptr<SendCompletion> completion = std::move(message->completion)) {
        add_receiver(*completion, *message);
        if (--completion->not_posted == 0) count_late_receiver(*completion);
    }
    return message;
}

// Posts the blocking receives that the call will complete and the non-blocking receives that it will post. A receive
// counts from the start of its call, and a send may end before the call's request is recorded.
void MessageReplay::begin_call(std::uint32_t location)
{
    LocationMessages& own = locations_[location];
    const std::vector<StartedReceives::Post>& blocking = own.started.blocking;
    const std::vector<StartedReceives::Post>& posted = own.started.posted;
    ++own.calls;
    for (; own.blocked < blocking.size() && blocking[own.blocked].call <= own.calls; ++own.blocked)
        if (MessagePtr message = post(location, own.started.channels[blocking[own.blocked].channel]))
            own.blocking.push_back(std::move(message));
    for (; own.posting < posted.size() && posted[own.posting].call > 0 && posted[own.posting].call <= own.calls;
         ++own.posting) {
        const std::uint32_t channel = posted[own.posting].channel;
        own.preposted.push_back(channel == otf2::nowhere ? nullptr : post(location, own.started.channels[channel]));
    }
}

void MessageReplay::post_receive(std::uint32_t location, std::uint64_t request)
{
    LocationMessages& own = locations_[location];
    const std::size_t number = own.posted++;
    MessagePtr message;
    if (number < own.posting) {
        message = std::move(own.preposted.front());
        own.preposted.pop_front();
    } else {
        own.posting = own.posted;
        if (number >= own.started.posted.size()) return;
        const std::uint32_t channel = own.started.posted[number].channel;
        if (channel != otf2::nowhere) message = post(location, own.started.channels[channel]);
    }
    if (message) own.receives.open(request, std::move(message));
}

void MessageReplay::receive(std::uint32_t location, const otf2::MessageRecord& message)
{
    const auto rank = state_.rank_of(message.communicator, location);
    if (!rank) return;
    LocationMessages& own = locations_[location];
    MessagePtr received = own.receives.close(message.request).value_or(nullptr);
    if (!received && !own.blocking.empty()) {
        received = std::move(own.blocking.front());
        own.blocking.pop_front();
    }
    if (!received)
        received = post(location, {.communicator = message.communicator, .sender = message.peer, .tag = message.tag});
    if (!received->sent) {
        ++unmatched_receives_;
        return;
    }
    own.received = true;
    own.communicator = message.communicator;
    if (received->sender.ns > own.last_sender.ns) own.last_sender = received->sender;
}

void MessageReplay::end_call(std::uint32_t location, std::int64_t now_ns)
{
    LocationMessages& own = locations_[location];
    own.blocking.clear();  // unmatched receives of a communicator that the location does not belong to
    complete_probe(own, state_.call(location, now_ns));
    const bool sends = !own.blocking_sends.empty() || !own.completed_sends.empty();
    if (!own.received && !sends) return;
    const MpiCall call = state_.call(location, now_ns);
    const bool late_sender = own.received && complete_receives(own, call);
    // The blocking send of a receiving call, such as MPI_Sendrecv, may match its own receive.
    if (!own.received)
        own.completed_sends.insert(own.completed_sends.end(), own.blocking_sends.begin(), own.blocking_sends.end());
    if (!late_sender && !own.completed_sends.empty()) complete_sends(own, call);
    own.blocking_sends.clear();
    own.completed_sends.clear();
    own.received = false;
}

// A probe waits like the receive of its message; Scalasca has no pattern for it.
void MessageReplay::complete_probe(LocationMessages& own, const MpiCall& call)
{
    const std::vector<StartedReceives::Probes>& probes = own.started.probes;
    while (own.probed < probes.size() && probes[own.probed].last_call < own.calls) ++own.probed;
    if (own.probed == probes.size() || probes[own.probed].first_call > own.calls) return;
    if (probes[own.probed].channel == otf2::nowhere) return;
    const Channel& channel = own.started.channels[probes[own.probed].channel];
    const auto rank = state_.member_rank(channel.communicator, call.location);
    if (!rank) return;
    const auto waiting = unmatched_.find({channel, *rank});
    if (waiting != unmatched_.end() && waiting->second.sent && !waiting->second.messages.empty()) {
        const Message& message = *waiting->second.messages.front();
        own.received = true;
        own.communicator = channel.communicator;
        own.last_sender = message.sender;
        if (own.polled_ns == 0) return;
        const std::int64_t until_ns = std::min(message.sender.ns, call.end_ns);
        const std::int64_t last_ns =
            until_ns > call.begin_ns ? state_.part.within(call.location, call.begin_ns, until_ns) : 0;
        state_.delays.polled_for(call.location, call.where, own.polling_since_ns, own.polled_ns + last_ns,
                                 message.sender);
        own.polled_ns = 0;
        return;
    }
    if (own.polled_ns == 0) own.polling_since_ns = call.begin_ns;
    own.polled_ns += state_.part.within(call.location, call.begin_ns, call.end_ns);
    state_.count(Pattern::late_sender, channel.communicator, call, call.begin_ns, call.end_ns);
    state_.delays.idle_until(call.location, call.end_ns, call.where);
}

// Returns true if there was a late sender.
bool MessageReplay::complete_receives(LocationMessages& own, const MpiCall& call)
{
    const std::int64_t until_ns = std::min(own.last_sender.ns, call.end_ns);
    const std::int64_t from_ns = state_.wait_begin_ns(call.location);
    state_.count(Pattern::late_sender, own.communicator, call, from_ns, until_ns);
    state_.wait_for(call.location, own.last_sender);
    std::int64_t& waited_ns = state_.locations[call.location].waited_ns;
    waited_ns = std::max(waited_ns, until_ns);
    own.last_sender = {};
    return until_ns > from_ns;
}

// Late receiver, by Scalasca's rules:
// 1. The wait begins with the call that completes the send.
// 2. It ends with the start of the call that posts the receive; none if the send completed before.
// 3. Of several sends in one MPI_Waitall the longest wait counts.
// 4. A call with a late sender has no late receiver.
void MessageReplay::complete_sends(LocationMessages& own, const MpiCall& call)
{
    SendCompletion completion{.call = call, .from_ns = state_.wait_begin_ns(call.location)};
    for (const MessagePtr& message : own.completed_sends) {
        if (message->posted)
            add_receiver(completion, *message);
        else
            ++completion.not_posted;
    }
    // In a delay analysis each receive is posted when its call begins: those missing now are too late.
    if (state_.delays.enabled() || completion.not_posted == 0) {
        if (completion.last.location == otf2::nowhere) return;
        count_late_receiver(completion);
        state_.wait_for(call.location, completion.last);
        return;
    }
    const auto shared = boost::allocate_local_shared<SendCompletion>(Recycled<SendCompletion>{}, std::move(completion));
    for (const MessagePtr& message : own.completed_sends)
        if (!message->posted) message->completion = shared;
}

void MessageReplay::add_receiver(SendCompletion& completion, const Message& message)
{
    const std::int64_t arrival_ns = message.receiver.ns;
    if (arrival_ns <= completion.from_ns || arrival_ns >= completion.call.end_ns || arrival_ns <= completion.last.ns)
        return;
    completion.last = message.receiver;
    completion.communicator = message.communicator;
}

void MessageReplay::count_late_receiver(const SendCompletion& completion)
{
    if (completion.last.location == otf2::nowhere) return;
    state_.count(Pattern::late_receiver, completion.communicator, completion.call, completion.from_ns,
                 completion.last.ns);
}

std::uint64_t MessageReplay::never_received() const
{
    std::uint64_t messages = 0;
    for (const auto& [route, waiting] : unmatched_)
        if (waiting.sent) messages += waiting.messages.size();
    return messages;
}

}  // namespace replay
