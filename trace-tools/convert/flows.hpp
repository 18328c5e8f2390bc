// SPDX-License-Identifier: Apache-2.0
// The arrows of a trace: from a send to its receive, and from the ranks that a collective waits for to those that wait.
#pragma once

#include "trace-tools/convert/in_order_of_begin.hpp"
#include "trace-tools/otf2/read/reader.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <tuple>
#include <vector>

namespace convert {

struct ArrowEnd {
    enum class Kind : std::uint8_t { message, collective, launch };
    Kind kind = Kind::message;
    bool tail = false;     // true for the arrow's start
    std::uint64_t id = 0;  // equal for both ends; unique within a kind
    otf2::At at;
};

// Pass all events, location by location. Each call reports, through `put`, the arrow ends that have become known. A
// message's arrow leads from the send to the end of its receive. A collective's arrows connect each rank with the root
// (rank 0 if there is none), from the start on one rank to the end on the other. Locations without a known rank have no
// arrows. Memory grows with the number of rank and tag pairs, not with the number of events.
class Flows {
 public:
    using Put = std::function<void(const ArrowEnd&)>;
    Flows(const otf2::Archive& archive, Put put);

    void launch(const otf2::At& at, std::int64_t correlation);  // call for a kernel and for the call launching it
    void send(const otf2::At& at, const otf2::MessageRecord& message);
    void receive_request(const otf2::At& at, std::uint64_t request);
    void receive(const otf2::At& at, const otf2::MessageRecord& message);
    void collective_begin(const otf2::At& at);
    void collective_request(const otf2::At& at, std::uint64_t request);
    void collective(const otf2::At& at, const otf2::CollectiveRecord& record);
    void finish();  // call after the last event

 private:
    template <class Record>
    struct Done {
        otf2::At at;
        Record record;
    };
    using Channel = std::tuple<ArrowEnd::Kind, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
    struct Used {
        std::uint64_t number = 0;
        std::uint64_t tails = 0;
        std::uint64_t heads = 0;
    };

    void on(const otf2::At& at);
    std::uint32_t rank_of(std::uint32_t location, std::uint32_t communicator) const;  // nowhere: not a member
    void end(const Channel& channel, bool tail, const otf2::At& at);
    void received(const Done<otf2::MessageRecord>& done);
    void collected(std::int64_t begin_ns, const Done<otf2::CollectiveRecord>& done);

    const otf2::Archive& archive_;
    Put put_;
    std::vector<std::map<std::uint32_t, std::uint32_t>> ranks_;  // by communicator: rank of each process
    std::map<Channel, Used> channels_;
    std::uint32_t location_ = otf2::nowhere;  // the current location
    std::int64_t now_ns_ = 0;                 // time of the current event
    std::int64_t collective_began_ns_ = 0;
    InOrderOfBegin<Done<otf2::MessageRecord>> receives_;
    InOrderOfBegin<Done<otf2::CollectiveRecord>> collectives_;
};

}  // namespace convert
