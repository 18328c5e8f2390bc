// SPDX-License-Identifier: Apache-2.0
// The visitor that a reader calls, one event at a time.
#pragma once

#include "trace-tools/otf2/archive.hpp"
#include "trace-tools/otf2/read/event_attributes.hpp"

#include <cstdint>

namespace otf2 {

struct At {
    std::uint32_t location;  // index into Archive::locations
    std::int64_t time_ns;
    std::uint64_t tick = 0;  // time on the archive's clock, to order events with equal ns
};

// A metric's value in its type.
struct MetricValue {
    Type type = Type::uint64;
    std::uint8_t member = 0;  // index of the value within the event
    union {
        std::uint64_t uint64;
        std::int64_t int64;
        double real;
    };
    double as_double() const
    {
        return type == Type::real    ? real
               : type == Type::int64 ? static_cast<double>(int64)
                                     : static_cast<double>(uint64);
    }
};

struct CollectiveRecord {
    Operation operation = Operation::barrier;
    std::uint32_t communicator = nowhere;  // index into Archive::communicators
    std::uint32_t root = no_root;
    std::uint64_t sent_bytes = 0;
    std::uint64_t received_bytes = 0;
    std::uint64_t request = no_request;
};

struct MessageRecord {
    std::uint32_t peer = 0;
    std::uint32_t communicator = nowhere;
    std::uint32_t tag = 0;
    std::uint64_t bytes = 0;
    std::uint64_t request = no_request;
};

// Override the functions that you need. They may throw; read() passes the exception on.
class Visitor {
 public:
    virtual ~Visitor() = default;
    virtual void enter(const At&, std::uint32_t /*region*/, const EventAttributes&) {}
    virtual void leave(const At&, std::uint32_t /*region*/, const EventAttributes&) {}
    virtual void metric(const At&, std::uint32_t /*metric*/, const MetricValue&) {}  // once for each class member
    virtual void collective_begin(const At&) {}
    virtual void collective_end(const At&, const CollectiveRecord&) {}
    virtual void collective_request(const At&, std::uint64_t /*request*/) {}
    virtual void collective_complete(const At&, const CollectiveRecord&) {}
    virtual void send(const At&, const MessageRecord&) {}  // has a request for MPI_Isend
    virtual void send_complete(const At&, std::uint64_t /*request*/) {}
    virtual void receive_request(const At&, std::uint64_t /*request*/) {}
    virtual void receive(const At&, const MessageRecord&) {}  // has a request for the completion of MPI_Irecv
    virtual void buffer_flush(const At&, std::int64_t /*end_ns*/) {}
    virtual void transfer_begin(const At& at) { other(at); }  // one-sided communication, used by Score-P for GPU copies
    virtual void transfer_end(const At& at) { other(at); }
    virtual void other(const At&) {}  // called for every other kind of event
};

// A visitor for which most kinds of events are alike: each calls event(at) of the derived class, not virtually.
template <class Derived>
class EachEvent : public Visitor {
 public:
    void metric(const At& at, std::uint32_t, const MetricValue&) override { each(at); }
    void collective_begin(const At& at) override { each(at); }
    void collective_end(const At& at, const CollectiveRecord&) override { each(at); }
    void collective_request(const At& at, std::uint64_t) override { each(at); }
    void collective_complete(const At& at, const CollectiveRecord&) override { each(at); }
    void send(const At& at, const MessageRecord&) override { each(at); }
    void send_complete(const At& at, std::uint64_t) override { each(at); }
    void receive_request(const At& at, std::uint64_t) override { each(at); }
    void receive(const At& at, const MessageRecord&) override { each(at); }
    void buffer_flush(const At& at, std::int64_t) override { each(at); }
    void other(const At& at) override { each(at); }

 private:
    void each(const At& at) { static_cast<Derived&>(*this).event(at); }
};

}  // namespace otf2
