// SPDX-License-Identifier: Apache-2.0
// The events of an archive as lines of text, so that a test can show what it expects.
#pragma once

#include "base/error.hpp"
#include "trace-tools/otf2/read/reader.hpp"

#include <string>
#include <vector>

namespace otf2 {

// One line per event, such as "main: enter step step=3 level=high"; time stamps only on request.
class Listing : public Visitor {
 public:
    explicit Listing(const Archive& archive, bool times = false) : archive_{archive}, times_{times} {}

    std::vector<std::string> lines;

    void enter(const At& at, std::uint32_t region, const EventAttributes& attributes) override
    {
        line(at, "enter ", archive_.regions[region].name, text(attributes));
    }
    void leave(const At& at, std::uint32_t region, const EventAttributes& attributes) override
    {
        line(at, "leave ", archive_.regions[region].name, text(attributes));
    }
    void metric(const At& at, std::uint32_t metric, const MetricValue& value) override
    {
        line(at, archive_.metrics[metric].name, " is ", value.as_double(), " ", archive_.metrics[metric].unit);
    }
    void collective_begin(const At& at) override { line(at, "collective begins"); }
    void collective_end(const At& at, const CollectiveRecord& record) override { line(at, text(record)); }
    void collective_request(const At& at, std::uint64_t request) override { line(at, "collective request ", request); }
    void collective_complete(const At& at, const CollectiveRecord& record) override
    {
        line(at, text(record), " request ", record.request);
    }
    void send(const At& at, const MessageRecord& message) override { line(at, "send ", text(message)); }
    void send_complete(const At& at, std::uint64_t request) override { line(at, "sent request ", request); }
    void receive_request(const At& at, std::uint64_t request) override { line(at, "receive request ", request); }
    void receive(const At& at, const MessageRecord& message) override { line(at, "receive ", text(message)); }
    void buffer_flush(const At& at, std::int64_t) override { line(at, "flush"); }
    void other(const At& at) override { line(at, "other"); }

    // Lines of one process or location, such as "MPI Rank 1/transport".
    std::vector<std::string> of(const std::string& place) const
    {
        std::vector<std::string> found;
        for (const std::string& one : lines)
            if (one.rfind(place + ": ", 0) == 0) found.push_back(one.substr(place.size() + 2));
        return found;
    }

 private:
    template <class... Parts>
    void line(const At& at, const Parts&... parts)
    {
        const Location& location = archive_.locations[at.location];
        const std::string time = times_ ? base::join(at.time_ns, " ") : "";
        lines.push_back(
            base::join(time, archive_.processes[location.process].name, "/", location.name, ": ", parts...));
    }

    std::string text(const EventAttributes& attributes) const
    {
        std::string all;
        for (std::uint32_t i = 0; i < archive_.attributes.size(); ++i) {
            const std::string name = " " + archive_.attributes[i].name + "=";
            if (const auto number = attributes.number(i))
                all += base::join(name, static_cast<std::int64_t>(*number));
            else if (const auto real = attributes.real(i))
                all += base::join(name, *real);
            else if (const auto words = attributes.text(i))
                all += base::join(name, *words);
        }
        return all;
    }

    std::string text(const CollectiveRecord& record) const
    {
        return base::join(otf2::text(record.operation), " on ", archive_.communicators[record.communicator].name,
                          record.root == no_root ? "" : base::join(" root ", record.root), " sent ", record.sent_bytes,
                          " received ", record.received_bytes);
    }

    std::string text(const MessageRecord& message) const
    {
        return base::join("peer ", message.peer, " on ", archive_.communicators[message.communicator].name, " tag ",
                          message.tag, " bytes ", message.bytes);
    }

    const Archive& archive_;
    bool times_;
};

}  // namespace otf2
