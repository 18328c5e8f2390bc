#include "trace-tools/replay/message_replay.hpp"

#include <algorithm>

namespace otf2 {

// The first that is the other half of this one, or a new message.
MessageReplay::MessagePtr MessageReplay::match(const Route& route, bool sends)
{
    const auto there = unmatched_.try_emplace(route).first;
    Unmatched& waiting = there->second;
    if (waiting.messages.empty() || waiting.sent == sends) {
        waiting.sent = sends;
        waiting.messages.push_back(std::make_shared<Message>());
        waiting.messages.back()->communicator = route.first.communicator;
        return waiting.messages.back();
    }
    MessagePtr message = std::move(waiting.messages.front());
    waiting.messages.pop_front();
    if (waiting.messages.empty()) unmatched_.erase(there);
    return message;
}

void MessageReplay::send(std::uint32_t location, const MessageRecord& message)
{
    const auto rank = state_.rank_of(message.communicator, location);
    if (!rank) return;
    const Channel channel{.communicator = message.communicator, .sender = *rank, .tag = message.tag};
    MessagePtr sent = match({channel, message.peer}, true);
    sent->sent = true;
    sent->sender = state_.arrival(location);
    if (message.request == no_request)
        places_[location].blocking_sends.push_back(std::move(sent));
    else
        places_[location].sends.open(message.request, std::move(sent));
}

void MessageReplay::complete_send(std::uint32_t location, std::uint64_t request)
{
    if (state_.places[location].in_mpi == 0) return;
    if (auto sent = places_[location].sends.close(request)) places_[location].ended_sends.push_back(std::move(*sent));
}

// Null where the location is no rank of the communicator, or not in an MPI call.
MessageReplay::MessagePtr MessageReplay::post(std::uint32_t location, const Channel& channel)
{
    const auto rank = state_.find_rank(channel.communicator, location);
    if (!rank) return nullptr;
    MessagePtr message = match({channel, *rank}, false);
    message->posted = true;
    message->receiver = state_.arrival(location);
    if (const std::shared_ptr<SendsEnd> end = std::move(message->end)) {
        consider(*end, *message);
        if (--end->unknown == 0) count_late_receiver(*end);
    }
    return message;
}

// Posts what it is known to receive before it ends.
void MessageReplay::begin_call(std::uint32_t location)
{
    Place& place = places_[location];
    const std::vector<StartedReceives::Blocking>& blocking = place.started.blocking;
    ++place.calls;
    for (; place.blocks < blocking.size() && blocking[place.blocks].call <= place.calls; ++place.blocks)
        if (MessagePtr message = post(location, place.started.channels[blocking[place.blocks].channel]))
            place.blocking.push_back(std::move(message));
}

void MessageReplay::post_receive(std::uint32_t location, std::uint64_t request)
{
    Place& place = places_[location];
    const std::size_t number = place.posted++;
    if (number >= place.started.posted.size() || place.started.posted[number] == nowhere) return;
    if (MessagePtr message = post(location, place.started.channels[place.started.posted[number]]))
        place.receives.open(request, std::move(message));
}

void MessageReplay::receive(std::uint32_t location, const MessageRecord& message)
{
    const auto rank = state_.rank_of(message.communicator, location);
    if (!rank) return;
    Place& place = places_[location];
    MessagePtr received = place.receives.close(message.request).value_or(nullptr);
    if (!received && !place.blocking.empty()) {
        received = std::move(place.blocking.front());
        place.blocking.pop_front();
    }
    if (!received)
        received = post(location, {.communicator = message.communicator, .sender = message.peer, .tag = message.tag});
    if (!received->sent) {
        ++unmatched_receives_;
        return;
    }
    place.received = true;
    place.communicator = message.communicator;
    if (received->sender.ns > place.last_sender.ns) place.last_sender = received->sender;
}

void MessageReplay::end_call(std::uint32_t location, std::int64_t now_ns)
{
    Place& place = places_[location];
    place.blocking.clear();  // of no rank of the communicator
    const bool sends = !place.blocking_sends.empty() || !place.ended_sends.empty();
    if (!place.received && !sends) return;
    const MpiCall call = state_.call(location, now_ns);
    const bool late_sender = place.received && end_receives(place, call);
    // MPI_Sendrecv may wait for its own message.
    if (!place.received)
        place.ended_sends.insert(place.ended_sends.end(), place.blocking_sends.begin(), place.blocking_sends.end());
    if (!late_sender && !place.ended_sends.empty()) end_sends(place, call);
    place.blocking_sends.clear();
    place.ended_sends.clear();
    place.received = false;
}

// Whether there was a late sender.
bool MessageReplay::end_receives(Place& place, const MpiCall& call)
{
    const std::int64_t until_ns = std::min(place.last_sender.ns, call.end_ns);
    const std::int64_t from_ns = state_.may_wait_from(call.location);
    state_.count(Pattern::late_sender, place.communicator, call, from_ns, until_ns);
    state_.wait_for(call.location, place.last_sender);
    state_.places[call.location].waited_ns = std::max(state_.places[call.location].waited_ns, until_ns);
    place.last_sender = {};
    return until_ns > from_ns;
}

// Scalasca's rule: a send has waited for its receiver from when the call began that ended it to when the call began
// that posted the receive, if that was before the send ended; of several in one MPI_Waitall the longest, and none
// beside a late sender.
void MessageReplay::end_sends(Place& place, const MpiCall& call)
{
    SendsEnd end{.call = call, .from_ns = state_.may_wait_from(call.location), .last = {}};
    for (const MessagePtr& message : place.ended_sends) {
        if (message->posted)
            consider(end, *message);
        else
            ++end.unknown;
    }
    // Where causes are followed each receive is posted when its call begins: these came too late.
    if (state_.causes.followed() || end.unknown == 0) {
        if (end.last.location == nowhere) return;
        count_late_receiver(end);
        state_.wait_for(call.location, end.last);
        return;
    }
    const auto shared = std::make_shared<SendsEnd>(std::move(end));
    for (const MessagePtr& message : place.ended_sends)
        if (!message->posted) message->end = shared;
}

void MessageReplay::consider(SendsEnd& end, const Message& message)
{
    const std::int64_t came_ns = message.receiver.ns;
    if (came_ns <= end.from_ns || came_ns >= end.call.end_ns || came_ns <= end.last.ns) return;
    end.last = message.receiver;
    end.communicator = message.communicator;
}

void MessageReplay::count_late_receiver(const SendsEnd& end)
{
    if (end.last.location == nowhere) return;
    state_.count(Pattern::late_receiver, end.communicator, end.call, end.from_ns, end.last.ns);
}

std::uint64_t MessageReplay::never_received() const
{
    std::uint64_t messages = 0;
    for (const auto& [route, waiting] : unmatched_)
        if (waiting.sent) messages += waiting.messages.size();
    return messages;
}

}  // namespace otf2
