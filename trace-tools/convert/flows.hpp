// SPDX-License-Identifier: Apache-2.0
// The arrows of a trace: from a send to its receive, from the ranks that a collective waits for to those that wait.
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
    bool tail = false;     // where it begins
    std::uint64_t id = 0;  // the same of both ends, of one kind
    otf2::At at;
};

// Hand it all events, location by location; each call hands on the ends that it makes known. A message's arrow goes
// from the send to the end of its receive. A collective's arrows join each rank and the root, or rank 0 where there is
// none: from its begin on the one to its end on the other. Of locations whose rank is not known there are no arrows.
// Memory grows with the pairs of ranks and tags, not with the events.
class Flows {
 public:
    using Put = std::function<void(const ArrowEnd&)>;
    Flows(const otf2::Archive& archive, Put put);

    void launch(const otf2::At& at, std::int64_t correlation);  // of a kernel, and of the call that launches it
    void send(const otf2::At& at, const otf2::MessageRecord& message);
    void receive_request(const otf2::At& at, std::uint64_t request);
    void receive(const otf2::At& at, const otf2::MessageRecord& message);
    void collective_begin(const otf2::At& at);
    void collective_request(const otf2::At& at, std::uint64_t request);
    void collective(const otf2::At& at, const otf2::CollectiveRecord& record);
    void finish();  // after the last event

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
    std::uint32_t rank_of(std::uint32_t location, std::uint32_t communicator) const;  // or nowhere
    void end(const Channel& channel, bool tail, const otf2::At& at);
    void received(const Done<otf2::MessageRecord>& done);
    void collected(std::int64_t begin_ns, const Done<otf2::CollectiveRecord>& done);

    const otf2::Archive& archive_;
    Put put_;
    std::vector<std::map<std::uint32_t, std::uint32_t>> ranks_;  // by communicator: a process's rank
    std::map<Channel, Used> channels_;
    std::uint32_t location_ = otf2::nowhere;  // at hand
    std::int64_t now_ns_ = 0;                 // of the event at hand
    std::int64_t collective_began_ns_ = 0;
    InOrderOfBegin<Done<otf2::MessageRecord>> receives_;
    InOrderOfBegin<Done<otf2::CollectiveRecord>> collectives_;
};

}  // namespace convert
