// SPDX-License-Identifier: Apache-2.0
// Passes each event to several visitors, in their order, so that the archive is read only once.
#pragma once

#include "trace-tools/otf2/read/reader.hpp"

#include <tuple>

namespace otf2 {

// Calls to visitors of final classes are not virtual.
template <class... Visitors>
class FanOut final : public Visitor {
 public:
    explicit FanOut(Visitors*... visitors) : visitors_{visitors...} {}

    void enter(const At& at, std::uint32_t region, const EventAttributes& attributes) override
    {
        each([&](auto& one) { one.enter(at, region, attributes); });
    }
    void leave(const At& at, std::uint32_t region, const EventAttributes& attributes) override
    {
        each([&](auto& one) { one.leave(at, region, attributes); });
    }
    void metric(const At& at, std::uint32_t metric, const MetricValue& value) override
    {
        each([&](auto& one) { one.metric(at, metric, value); });
    }
    void collective_begin(const At& at) override
    {
        each([&](auto& one) { one.collective_begin(at); });
    }
    void collective_end(const At& at, const CollectiveRecord& record) override
    {
        each([&](auto& one) { one.collective_end(at, record); });
    }
    void collective_request(const At& at, std::uint64_t request) override
    {
        each([&](auto& one) { one.collective_request(at, request); });
    }
    void collective_complete(const At& at, const CollectiveRecord& record) override
    {
        each([&](auto& one) { one.collective_complete(at, record); });
    }
    void send(const At& at, const MessageRecord& message) override
    {
        each([&](auto& one) { one.send(at, message); });
    }
    void send_complete(const At& at, std::uint64_t request) override
    {
        each([&](auto& one) { one.send_complete(at, request); });
    }
    void receive_request(const At& at, std::uint64_t request) override
    {
        each([&](auto& one) { one.receive_request(at, request); });
    }
    void receive(const At& at, const MessageRecord& message) override
    {
        each([&](auto& one) { one.receive(at, message); });
    }
    void buffer_flush(const At& at, std::int64_t end_ns) override
    {
        each([&](auto& one) { one.buffer_flush(at, end_ns); });
    }
    void transfer_begin(const At& at) override
    {
        each([&](auto& one) { one.transfer_begin(at); });
    }
    void transfer_end(const At& at) override
    {
        each([&](auto& one) { one.transfer_end(at); });
    }
    void other(const At& at) override
    {
        each([&](auto& one) { one.other(at); });
    }

 private:
    template <class Call>
    void each(const Call& call)
    {
        std::apply([&](auto*... visitors) { (call(*visitors), ...); }, visitors_);
    }

    std::tuple<Visitors*...> visitors_;
};

}  // namespace otf2
