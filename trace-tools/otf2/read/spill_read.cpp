#include "trace-tools/otf2/read/confined.hpp"
#include "trace-tools/otf2/read/event_source.hpp"
#include "trace-tools/otf2/read/spill_format.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <queue>
#include <utility>

#include <unistd.h>

namespace otf2 {

// Walks through a section, a window of it in memory.
class Spill::Cursor {
 public:
    Cursor(int file, const Section& section, std::size_t window_bytes)
        : file_{file}, next_{section.begin}, end_{section.end}, location_{section.location}, window_(window_bytes)
    {
    }

    // Up to the next event's time. False at the end.
    bool advance()
    {
        need(longest_event);
        if (at_ == filled_) return false;
        kind_ = static_cast<Kind>(window_[at_++]);
        time_ns_ = later(time_ns_, number());
        return true;
    }

    std::int64_t time_ns() const { return time_ns_; }
    std::uint32_t location() const { return location_; }

    // The rest of the event. `list` is for its attributes.
    void visit(Visitor& visitor, OTF2_AttributeList* list, const EventSource& source)
    {
        const At at{.location = location_, .time_ns = time_ns_};
        switch (kind_) {
            case Kind::enter:
                return visitor.enter(at, small(), EventAttributes{nullptr, source});
            case Kind::leave:
                return visitor.leave(at, small(), EventAttributes{nullptr, source});
            case Kind::enter_with_attributes: {
                const std::uint32_t region = small();
                fill(list);
                return visitor.enter(at, region, EventAttributes{list, source});
            }
            case Kind::leave_with_attributes: {
                const std::uint32_t region = small();
                fill(list);
                return visitor.leave(at, region, EventAttributes{list, source});
            }
            case Kind::metric: {
                const std::uint32_t metric = small();
                MetricValue value;
                value.type = static_cast<Type>(number());
                value.member = static_cast<std::uint8_t>(number());
                value.uint64 = number();
                return visitor.metric(at, metric, value);
            }
            case Kind::collective_begin:
                return visitor.collective_begin(at);
            case Kind::collective_end:
                return visitor.collective_end(at, collective());
            case Kind::collective_request:
                return visitor.collective_request(at, number());
            case Kind::collective_complete:
                return visitor.collective_complete(at, collective());
            case Kind::send:
                return visitor.send(at, message());
            case Kind::send_complete:
                return visitor.send_complete(at, number());
            case Kind::receive_request:
                return visitor.receive_request(at, number());
            case Kind::receive:
                return visitor.receive(at, message());
            case Kind::buffer_flush:
                return visitor.buffer_flush(at, later(time_ns_, number()));
            case Kind::other:
                return visitor.other(at);
        }
    }

 private:
    // So many bytes are in the window, or all that are left.
    void need(std::size_t bytes)
    {
        if (filled_ - at_ >= bytes || next_ == end_) return;
        std::memmove(window_.data(), window_.data() + at_, filled_ - at_);
        filled_ -= at_;
        at_ = 0;
        while (filled_ < window_.size() && next_ < end_) {
            const auto most = std::min<std::uint64_t>(window_.size() - filled_, end_ - next_);
            const auto read = base::check_errno(
                ::pread(file_, window_.data() + filled_, most, static_cast<off_t>(next_)), "read events put aside");
            if (read == 0) base::fail("events that were put aside are gone");
            filled_ += static_cast<std::size_t>(read);
            next_ += static_cast<std::uint64_t>(read);
        }
    }

    std::uint64_t number()
    {
        std::uint64_t number = 0;
        for (unsigned shift = 0;; shift += 7) {
            const auto byte = static_cast<unsigned char>(window_[at_++]);
            number |= std::uint64_t{byte & 0x7FU} << shift;
            if (byte < 0x80) return number;
        }
    }
    std::uint32_t small() { return static_cast<std::uint32_t>(number()); }

    CollectiveRecord collective()
    {
        CollectiveRecord record;
        record.operation = static_cast<Operation>(number());
        record.communicator = small();
        record.root = small();
        record.sent_bytes = number();
        record.received_bytes = number();
        record.request = number() - 1;
        return record;
    }

    MessageRecord message()
    {
        MessageRecord message;
        message.peer = small();
        message.communicator = small();
        message.tag = small();
        message.bytes = number();
        message.request = number() - 1;
        return message;
    }

    void fill(OTF2_AttributeList* list)
    {
        check(OTF2_AttributeList_RemoveAllAttributes(list), "read attributes");
        for (std::uint64_t left = number(); left > 0; --left) {
            need(longest_attribute);
            const OTF2_AttributeRef id = small();
            const auto type = static_cast<OTF2_Type>(number());
            OTF2_AttributeValue value{};
            value.uint64 = number();
            check(OTF2_AttributeList_AddAttribute(list, id, type, value), "read an attribute");
        }
    }

    int file_;
    std::uint64_t next_;  // of the file, to be read
    std::uint64_t end_;
    std::uint32_t location_;
    std::vector<char> window_;
    std::size_t at_ = 0;
    std::size_t filled_ = 0;
    Kind kind_{};
    std::int64_t time_ns_ = 0;
};

void Spill::read(Visitor& visitor)
{
    write_out();
    if (sections_.empty()) return;
    sections_.back().end = written_;
    constexpr std::size_t all_windows = 16 << 20;
    const std::size_t window = std::clamp<std::size_t>(all_windows / sections_.size(), 4 << 10, 64 << 10);
    std::vector<Cursor> cursors;
    cursors.reserve(sections_.size());
    using Next = std::pair<std::int64_t, std::uint32_t>;  // time and cursor
    std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
    std::sort(sections_.begin(), sections_.end(),
              [](const Section& one, const Section& other) { return one.location < other.location; });
    for (const Section& section : sections_) {
        Cursor& cursor = cursors.emplace_back(file_, section, window);
        if (cursor.advance()) next.emplace(cursor.time_ns(), static_cast<std::uint32_t>(cursors.size() - 1));
    }
    const AttributeListHandle list{check(OTF2_AttributeList_New(), "read attributes")};
    const EventSource source{archive_, references_, visitor};
    constexpr std::uint64_t events_at_once = 100'000;
    const auto pop = [&] {
        const std::uint32_t first = next.top().second;
        next.pop();
        return first;
    };
    std::uint32_t first = pop();
    for (std::uint64_t events = 1;; ++events) {
        if (events % events_at_once == 0) getting_on();
        Cursor& cursor = cursors[first];
        cursor.visit(visitor, list.get(), source);
        if (cursor.advance()) {
            const Next after{cursor.time_ns(), first};
            if (next.empty() || after < next.top()) continue;
            next.push(after);
        } else if (next.empty()) {
            return;
        }
        first = pop();
    }
}

}  // namespace otf2
