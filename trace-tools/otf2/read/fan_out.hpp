// SPDX-License-Identifier: Apache-2.0
// Passes each event to several visitors, in their order, so that the archive is read only once.
#pragma once

#include "trace-tools/otf2/read/reader.hpp"

#include <tuple>

namespace otf2 {

#define EACH(call) std::apply([&](auto*... one) { (one->call, ...); }, visitors_)

// Calls to visitors of final classes are not virtual.
template <class... Visitors>
class FanOut final : public Visitor {
 public:
    explicit FanOut(Visitors*... visitors) : visitors_{visitors...} {}

    void enter(const At& at, std::uint32_t region, const EventAttributes& attributes) override
    {
        EACH(enter(at, region, attributes));
    }
    void leave(const At& at, std::uint32_t region, const EventAttributes& attributes) override
    {
        EACH(leave(at, region, attributes));
    }
    void metric(const At& at, std::uint32_t metric, const MetricValue& value) override
    {
        EACH(metric(at, metric, value));
    }
    void collective_begin(const At& at) override { EACH(collective_begin(at)); }
    void collective_end(const At& at, const CollectiveRecord& record) override { EACH(collective_end(at, record)); }
    void collective_request(const At& at, std::uint64_t request) override { EACH(collective_request(at, request)); }
    void collective_complete(const At& at, const CollectiveRecord& record) override
    {
        EACH(collective_complete(at, record));
    }
    void send(const At& at, const MessageRecord& message) override { EACH(send(at, message)); }
    void send_complete(const At& at, std::uint64_t request) override { EACH(send_complete(at, request)); }
    void receive_request(const At& at, std::uint64_t request) override { EACH(receive_request(at, request)); }
    void receive(const At& at, const MessageRecord& message) override { EACH(receive(at, message)); }
    void buffer_flush(const At& at, std::int64_t end_ns) override { EACH(buffer_flush(at, end_ns)); }
    void transfer_begin(const At& at) override { EACH(transfer_begin(at)); }
    void transfer_end(const At& at) override { EACH(transfer_end(at)); }
    void other(const At& at) override { EACH(other(at)); }

 private:
    std::tuple<Visitors*...> visitors_;
};

#undef EACH

}  // namespace otf2
