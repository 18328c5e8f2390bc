#include "trace-tools/patterns/message_replay.hpp"

#include <algorithm>

namespace otf2 {

void MessageReplay::send(std::uint32_t location, const MessageRecord& message)
{
    const auto rank = state_.rank_of(message.communicator, location);
    if (!rank) return;
    const auto sent = std::make_shared<Send>();
    sent->communicator = message.communicator;
    sent->call = state_.call(location, state_.places[location].call_ns);
    sent->blocking = message.request == no_request;
    const std::vector<std::uint32_t>& members = state_.members(message.communicator);
    if (message.peer < members.size()) sent->receiver_location = members[message.peer];
    sent->sender = state_.arrival(location);
    sent_[{message.communicator, *rank, message.peer, message.tag}].push_back(sent);
    ++not_received_;
    ends_[location].sends.push_back(sent);
}

void MessageReplay::receive(std::uint32_t location, const MessageRecord& message)
{
    const std::uint32_t overtaken = overtaken_by_next(location);
    const auto rank = state_.rank_of(message.communicator, location);
    if (!rank) return;
    const Channel channel{message.communicator, message.peer, *rank, message.tag};
    const auto there = sent_.find(channel);
    if (there == sent_.end()) {
        ++unmatched_receives_;
        return;
    }
    std::deque<std::shared_ptr<Send>>& sends = there->second;
    const auto mine = sends.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(overtaken, sends.size() - 1));
    const std::shared_ptr<Send> send = std::move(*mine);
    sends.erase(mine);
    if (sends.empty()) sent_.erase(there);
    --not_received_;

    Ends& ends = ends_[location];
    ends.receives = true;
    ends.communicator = message.communicator;
    if (send->sender.ns > ends.last_sender.ns) ends.last_sender = send->sender;
    state_.causes.meet(location);
    send->receiver = state_.arrival(location);
    if (send->ended) count_late_receiver(*send);
}

std::uint32_t MessageReplay::overtaken_by_next(std::uint32_t location)
{
    const std::size_t next = received_[location]++;
    const std::vector<std::uint32_t>& overtaken = overtaken_[location];
    return next < overtaken.size() ? overtaken[next] : 0;
}

void MessageReplay::end_call(std::uint32_t location, std::int64_t now_ns)
{
    Ends& ends = ends_[location];
    if (ends.last_sender.location != nowhere) end_receives(ends, state_.call(location, now_ns));
    for (const std::shared_ptr<Send>& send : ends.sends) {
        send->call.end_ns = now_ns;
        send->ended = true;
        if (ends.receives) send->blocking = false;  // MPI_Sendrecv may wait for its own message
        if (send->blocking) follow_late_receiver(*send);
        if (send->receiver) count_late_receiver(*send);
    }
    ends.sends.clear();
    ends.receives = false;
}

void MessageReplay::end_receives(Ends& ends, const MpiCall& call)
{
    const std::int64_t until_ns = std::min(ends.last_sender.ns, call.end_ns);
    state_.count(Pattern::late_sender, ends.communicator, call, until_ns - state_.may_wait_from(call.location));
    state_.wait_for(call.location, ends.last_sender);
    state_.places[call.location].waited_ns = std::max(state_.places[call.location].waited_ns, until_ns);
    ends.last_sender = {};
}

// A receiver that came while the sender was in its call, and is still there or has just gone.
void MessageReplay::follow_late_receiver(const Send& send)
{
    if (send.receiver) {
        if (send.receiver->ns > send.call.begin_ns) state_.wait_for(send.call.location, *send.receiver);
        return;
    }
    const std::uint32_t other = send.receiver_location;
    if (!state_.is_location(other)) return;
    const Place& receiver = state_.places[other];
    if (receiver.in_mpi > 0 && receiver.call_ns > send.call.begin_ns)
        state_.wait_for(send.call.location, state_.arrival(other));
}

void MessageReplay::count_late_receiver(const Send& send)
{
    if (!send.blocking) return;
    state_.count(Pattern::late_receiver, send.communicator, send.call,
                 std::min(send.receiver->ns, send.call.end_ns) - send.call.begin_ns);
}

}  // namespace otf2
