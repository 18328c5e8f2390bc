// One reading for several visitors: each event goes to all, in their order.
#pragma once

#include "trace-tools/otf2/read/reader.hpp"

#include <initializer_list>
#include <vector>

namespace otf2 {

class FanOut : public Visitor {
 public:
    FanOut(std::initializer_list<Visitor*> visitors) : visitors_{visitors} {}

    void enter(const At& at, std::uint32_t region, const EventAttributes& attributes) override
    {
        for (Visitor* one : visitors_) one->enter(at, region, attributes);
    }
    void leave(const At& at, std::uint32_t region, const EventAttributes& attributes) override
    {
        for (Visitor* one : visitors_) one->leave(at, region, attributes);
    }
    void metric(const At& at, std::uint32_t metric, const MetricValue& value) override
    {
        for (Visitor* one : visitors_) one->metric(at, metric, value);
    }
    void collective_begin(const At& at) override
    {
        for (Visitor* one : visitors_) one->collective_begin(at);
    }
    void collective_end(const At& at, const CollectiveRecord& record) override
    {
        for (Visitor* one : visitors_) one->collective_end(at, record);
    }
    void collective_request(const At& at, std::uint64_t request) override
    {
        for (Visitor* one : visitors_) one->collective_request(at, request);
    }
    void collective_complete(const At& at, const CollectiveRecord& record) override
    {
        for (Visitor* one : visitors_) one->collective_complete(at, record);
    }
    void send(const At& at, const MessageRecord& message) override
    {
        for (Visitor* one : visitors_) one->send(at, message);
    }
    void send_complete(const At& at, std::uint64_t request) override
    {
        for (Visitor* one : visitors_) one->send_complete(at, request);
    }
    void receive_request(const At& at, std::uint64_t request) override
    {
        for (Visitor* one : visitors_) one->receive_request(at, request);
    }
    void receive(const At& at, const MessageRecord& message) override
    {
        for (Visitor* one : visitors_) one->receive(at, message);
    }
    void buffer_flush(const At& at, std::int64_t end_ns) override
    {
        for (Visitor* one : visitors_) one->buffer_flush(at, end_ns);
    }
    void transfer_begin(const At& at) override
    {
        for (Visitor* one : visitors_) one->transfer_begin(at);
    }
    void transfer_end(const At& at) override
    {
        for (Visitor* one : visitors_) one->transfer_end(at);
    }
    void other(const At& at) override
    {
        for (Visitor* one : visitors_) one->other(at);
    }

 private:
    std::vector<Visitor*> visitors_;
};

}  // namespace otf2
