// Messages from one rank to another: late senders and late receivers. Those of one sender, receiver, communicator and
// tag are matched as MPI matches them: in the order of the sends and of the receives' posting.
#pragma once

#include "trace-tools/otf2/read/reader.hpp"
#include "trace-tools/replay/open_requests.hpp"
#include "trace-tools/replay/replay_state.hpp"
#include "trace-tools/replay/started_requests.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace otf2 {

class MessageReplay {
 public:
    MessageReplay(ReplayState& state, std::vector<StartedReceives> started)
        : state_{state}, places_(state.places.size())
    {
        for (std::size_t location = 0; location < started.size(); ++location)
            places_[location].started = std::move(started[location]);
    }

    void begin_call(std::uint32_t location);
    void send(std::uint32_t location, const MessageRecord& message);
    void complete_send(std::uint32_t location, std::uint64_t request);
    void post_receive(std::uint32_t location, std::uint64_t request);
    void receive(std::uint32_t location, const MessageRecord& message);
    void end_call(std::uint32_t location, std::int64_t now_ns);  // in which they were

    std::uint64_t unmatched_receives() const { return unmatched_receives_; }
    std::uint64_t never_received() const;

 private:
    // A call that ends sends, until it is known when the receives of these were posted.
    struct SendsEnd {
        MpiCall call;
        std::int64_t from_ns = 0;  // since when it may wait
        Arrival last;              // of the receivers that came while it waited
        std::uint32_t communicator = 0;
        std::size_t unknown = 0;  // receivers
    };

    struct Message {
        std::uint32_t communicator = 0;
        bool sent = false;
        bool posted = false;
        Arrival sender;
        Arrival receiver;  // as it came to the call that posts the receive
        std::shared_ptr<SendsEnd> end;
    };
    using MessagePtr = std::shared_ptr<Message>;

    struct Place {
        StartedReceives started;
        std::size_t posted = 0;  // of started.posted
        std::size_t blocks = 0;  // of started.blocking
        std::uint64_t calls = 0;
        OpenRequests<MessagePtr> sends;
        OpenRequests<MessagePtr> receives;
        std::deque<MessagePtr> blocking;  // posted and not received

        // What it sent and received in the call that it is in.
        std::vector<MessagePtr> blocking_sends;
        std::vector<MessagePtr> ended_sends;
        bool received = false;
        Arrival last_sender;  // of its receives
        std::uint32_t communicator = 0;
    };

    // Messages that are sent and whose receive is not posted, or the other way round.
    struct Unmatched {
        bool sent = false;
        std::deque<MessagePtr> messages;
    };
    using Route = std::pair<Channel, std::uint32_t>;  // and the receiver

    MessagePtr match(const Route& route, bool sends);
    MessagePtr post(std::uint32_t location, const Channel& channel);
    bool end_receives(Place& place, const MpiCall& call);
    void end_sends(Place& place, const MpiCall& call);
    static void consider(SendsEnd& end, const Message& message);
    void count_late_receiver(const SendsEnd& end);

    ReplayState& state_;
    std::vector<Place> places_;  // by location
    std::map<Route, Unmatched> unmatched_;
    std::uint64_t unmatched_receives_ = 0;
};

}  // namespace otf2
