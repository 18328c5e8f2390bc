// SPDX-License-Identifier: Apache-2.0
// Matches messages between ranks: late senders and late receivers. Messages of one sender, receiver, communicator and
// tag match in the order in which they are sent and their receives are posted, as in MPI.
#pragma once

#include "trace-tools/otf2/read/reader.hpp"
#include "trace-tools/replay/open_requests.hpp"
#include "trace-tools/replay/replay_state.hpp"
#include "trace-tools/replay/started_requests.hpp"

#include <boost/container_hash/hash.hpp>
#include <boost/smart_ptr/local_shared_ptr.hpp>

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

namespace replay {

class MessageReplay {
 public:
    MessageReplay(ReplayState& state, std::vector<StartedReceives> started)
        : state_{state}, locations_(state.locations.size())
    {
        for (std::size_t location = 0; location < started.size(); ++location)
            locations_[location].started = std::move(started[location]);
    }

    void begin_call(std::uint32_t location);
    void send(std::uint32_t location, const otf2::MessageRecord& message);
    void complete_send(std::uint32_t location, std::uint64_t request);
    void post_receive(std::uint32_t location, std::uint64_t request);
    void receive(std::uint32_t location, const otf2::MessageRecord& message);
    void end_call(std::uint32_t location, std::int64_t now_ns);  // call after the call's messages

    std::uint64_t unmatched_receives() const { return unmatched_receives_; }
    std::uint64_t never_received() const;

 private:
    // A call that completes sends; kept until all their receives are posted.
    struct SendCompletion {
        MpiCall call;
        std::int64_t from_ns = 0;  // earliest start of the call's wait
        Arrival last{};            // last receiver that arrived during the call
        std::uint32_t communicator = 0;
        std::size_t not_posted = 0;  // number of receives not yet posted
    };

    struct Message {
        std::uint32_t communicator = 0;
        bool sent = false;
        bool posted = false;
        Arrival sender;
        Arrival receiver;  // arrival at the call that posts the receive
        boost::local_shared_ptr<SendCompletion> completion;
    };
    using MessagePtr = boost::local_shared_ptr<Message>;

    struct LocationMessages {
        StartedReceives started;
        std::size_t posted = 0;   // how many of started.posted have been requested
        std::size_t posting = 0;  // how many of started.posted are posted, including requests later in this call
        std::deque<MessagePtr> preposted;
        std::size_t probed = 0;   // how many of started.probes have been seen
        std::size_t blocked = 0;  // how many of started.blocking have been seen
        std::uint64_t calls = 0;
        OpenRequests<MessagePtr> sends;
        OpenRequests<MessagePtr> receives;
        std::deque<MessagePtr> blocking;  // receives that are posted but not completed

        // In the current call:
        std::vector<MessagePtr> blocking_sends;
        std::vector<MessagePtr> completed_sends;
        bool received = false;
        Arrival last_sender;
        std::uint32_t communicator = 0;

        // Time in calls of MPI_Iprobe that found nothing, since the last message:
        std::int64_t polled_ns = 0;
        std::int64_t polling_since_ns = 0;
    };

    // Sent messages without a receive, or receives without a message.
    struct Unmatched {
        bool sent = false;
        std::deque<MessagePtr> messages;
    };
    using Route = std::pair<Channel, std::uint32_t>;  // channel, and the receiver's rank

    struct RouteHash {
        std::size_t operator()(const Route& route) const
        {
            const auto& [channel, receiver] = route;
            std::size_t hash = 0;
            boost::hash_combine(hash, std::uint64_t{channel.communicator} << 32U | channel.tag);
            boost::hash_combine(hash, std::uint64_t{channel.sender} << 32U | receiver);
            return hash;
        }
    };

    MessagePtr match(const Route& route, bool sends);
    Unmatched& of_route(const Route& route);
    MessagePtr post(std::uint32_t location, const Channel& channel);
    void complete_probe(LocationMessages& own, const MpiCall& call);
    bool complete_receives(LocationMessages& own, const MpiCall& call);
    void complete_sends(LocationMessages& own, const MpiCall& call);
    static void add_receiver(SendCompletion& completion, const Message& message);
    void count_late_receiver(const SendCompletion& completion);

    ReplayState& state_;
    std::vector<LocationMessages> locations_;
    std::unordered_map<Route, Unmatched, RouteHash> unmatched_;
    std::size_t most_routes_ = 64;  // routes without messages are dropped beyond this number
    std::uint64_t unmatched_receives_ = 0;
};

}  // namespace replay
