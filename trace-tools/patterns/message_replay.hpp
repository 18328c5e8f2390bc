// Messages from one rank to another: late senders and late receivers. Those of one sender, receiver, communicator and
// tag are matched as MPI matches them: in the order of the sends and of the receives' posting.
#pragma once

#include "trace-tools/otf2/reader.hpp"
#include "trace-tools/patterns/replay_state.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace otf2 {

class MessageReplay {
 public:
    // overtaken: see StartedRequests.
    MessageReplay(ReplayState& state, std::vector<std::vector<std::uint32_t>> overtaken)
        : state_{state}, ends_(state.places.size()), overtaken_{std::move(overtaken)}, received_(state.places.size())
    {
    }

    void send(std::uint32_t location, const MessageRecord& message);
    void receive(std::uint32_t location, const MessageRecord& message);
    void end_call(std::uint32_t location, std::int64_t now_ns);  // in which they were

    std::uint64_t unmatched_receives() const { return unmatched_receives_; }
    std::uint64_t never_received() const { return not_received_; }

 private:
    struct Send {
        std::uint32_t communicator = 0;
        MpiCall call;
        bool ended = false;  // the call
        bool blocking = true;
        std::uint32_t receiver_location = nowhere;
        Arrival sender;
        std::optional<Arrival> receiver;  // as it came to the receive
    };

    // What a location sent and received in the call that it is in.
    struct Ends {
        std::vector<std::shared_ptr<Send>> sends;
        bool receives = false;
        Arrival last_sender;  // of its receives
        std::uint32_t communicator = 0;
    };

    using Channel = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;  // and from, to, tag

    std::uint32_t overtaken_by_next(std::uint32_t location);
    void end_receives(Ends& ends, const MpiCall& call);
    void follow_late_receiver(const Send& send);
    void count_late_receiver(const Send& send);

    ReplayState& state_;
    std::vector<Ends> ends_;                                     // by location
    std::vector<std::vector<std::uint32_t>> overtaken_;          // by location and receive
    std::vector<std::size_t> received_;                          // by location
    std::map<Channel, std::deque<std::shared_ptr<Send>>> sent_;  // not received; in their order
    std::uint64_t not_received_ = 0;
    std::uint64_t unmatched_receives_ = 0;
};

}  // namespace otf2
