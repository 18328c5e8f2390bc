#include "trace-tools/otf2/read/confined.hpp"
#include "trace-tools/otf2/read/event_source.hpp"
#include "trace-tools/otf2/read/spill_format.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <unistd.h>

namespace otf2 {

// Walks through a section, a window of it in memory.
class Spill::Cursor {
 public:
    Cursor(int file, const Section& section, const ReferenceTable& references, std::size_t window_bytes)
        : file_{file},
          next_{section.begin},
          end_{section.end},
          location_{section.location},
          references_{&references},
          window_(window_bytes)
    {
    }

    // Up to the next event's time. False at the end.
    bool advance()
    {
        need(longest_event);
        if (at_ == filled_) return false;
        kind_ = static_cast<Kind>(window_[at_++]);
        tick_ += unfolded(number());
        return true;
    }

    std::uint64_t tick() const { return tick_; }
    std::uint32_t location() const { return location_; }

    // The rest of the event. `list` is for its attributes.
    void visit(Visitor& visitor, OTF2_AttributeList* list, const EventSource& source)
    {
        const At at{.location = location_, .time_ns = references_->time_ns(tick_), .tick = tick_};
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
                return visitor.buffer_flush(at, later(at.time_ns, number()));
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
    const ReferenceTable* references_;
    std::vector<char> window_;
    std::size_t at_ = 0;
    std::size_t filled_ = 0;
    Kind kind_{};
    std::uint64_t tick_ = 0;
};

namespace {

// Of a location its next event; the earliest is first().
class NextEvents {
 public:
    struct Next {
        std::uint64_t tick = 0;
        std::uint32_t cursor = 0;  // ties: the smaller one first
        bool operator<(const Next& other) const
        {
            return tick != other.tick ? tick < other.tick : cursor < other.cursor;
        }
    };

    void add(const Next& next)
    {
        heap_.push_back(next);
        std::push_heap(heap_.begin(), heap_.end(), [](const Next& one, const Next& other) { return other < one; });
    }
    bool empty() const { return heap_.empty(); }
    const Next& first() const { return heap_.front(); }

    // In the first one's place.
    void replace_first(const Next& next)
    {
        std::size_t place = 0;
        for (std::size_t child = 1; child < heap_.size(); child = 2 * place + 1) {
            if (child + 1 < heap_.size() && heap_[child + 1] < heap_[child]) ++child;
            if (next < heap_[child]) break;
            heap_[place] = heap_[child];
            place = child;
        }
        heap_[place] = next;
    }
    void remove_first()
    {
        const Next last = heap_.back();
        heap_.pop_back();
        if (!heap_.empty()) replace_first(last);
    }

 private:
    std::vector<Next> heap_;
};

}  // namespace

void Spill::read(std::span<Spill* const> spills, Visitor& visitor)
{
    struct Part {
        const Spill* spill;
        Section section;
    };
    std::vector<Part> parts;
    for (Spill* spill : spills) {
        spill->write_out();
        if (!spill->sections_.empty()) spill->sections_.back().end = spill->written_;
        for (const Section& section : spill->sections_) parts.push_back({spill, section});
    }
    if (parts.empty()) return;
    const Archive& archive = spills.front()->archive_;
    const auto number = [&](const Part& part) { return archive.locations[part.section.location].id; };
    std::sort(parts.begin(), parts.end(),
              [&](const Part& one, const Part& other) { return number(one) < number(other); });
    constexpr std::size_t all_windows = 16 << 20;
    const std::size_t window = std::clamp<std::size_t>(all_windows / parts.size(), 4 << 10, 64 << 10);
    std::vector<Cursor> cursors;
    cursors.reserve(parts.size());
    NextEvents next;
    for (const auto& [spill, section] : parts) {
        Cursor& cursor = cursors.emplace_back(spill->file_, section, spill->references_, window);
        if (cursor.advance()) next.add({cursor.tick(), static_cast<std::uint32_t>(cursors.size() - 1)});
    }
    const AttributeListHandle list{check(OTF2_AttributeList_New(), "read attributes")};
    const EventSource source{archive, spills.front()->references_, visitor};
    constexpr std::uint64_t events_at_once = 100'000;
    for (std::uint64_t events = 1; !next.empty(); ++events) {
        if (events % events_at_once == 0) getting_on();
        const std::uint32_t first = next.first().cursor;
        Cursor& cursor = cursors[first];
        cursor.visit(visitor, list.get(), source);
        if (cursor.advance())
            next.replace_first({cursor.tick(), first});
        else
            next.remove_first();
    }
}

}  // namespace otf2
