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
            case Kind::transfer_begin:
                return visitor.transfer_begin(at);
            case Kind::transfer_end:
                return visitor.transfer_end(at);
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

// The next event of each cursor, as a tournament: the earliest is first(), of one tick that of the smaller cursor.
// Which one wins is hard to foretell, so it is computed without branches.
class NextEvents {
 public:
    // Before the first one is asked for.
    void add(std::uint64_t tick, std::uint32_t cursor)
    {
        ticks_.push_back(tick);
        cursors_.push_back(cursor);
    }
    void begin()
    {
        const std::size_t count = ticks_.size();
        winners_.resize(2 * count);
        for (std::size_t i = 0; i < count; ++i) winners_[count + i] = static_cast<std::uint32_t>(i);
        for (std::size_t i = count; i-- > 1;) {
            const std::uint32_t one = winners_[2 * i];
            const std::uint32_t other = winners_[2 * i + 1];
            winners_[i] = earlier(one, ticks_[one], other, ticks_[other]) != 0 ? one : other;
        }
    }

    bool empty() const { return ticks_.empty(); }
    std::uint32_t first() const { return cursors_[first_place()]; }

    // Of the first one's cursor the next.
    void replace_first(std::uint64_t tick)
    {
        std::uint32_t winner = first_place();
        ticks_[winner] = tick;
        for (std::size_t at = ticks_.size() + winner; at > 1; at /= 2) {
            const std::uint32_t other = winners_[at ^ 1U];
            const std::uint64_t other_tick = ticks_[other];
            const std::uint64_t changes = std::uint64_t{0} - earlier(other, other_tick, winner, tick);
            winner ^= (winner ^ other) & static_cast<std::uint32_t>(changes);
            tick ^= (tick ^ other_tick) & changes;
            winners_[at / 2] = winner;
        }
        if (tick == UINT64_MAX || 2 * ended_ > ticks_.size()) drop_ended();
    }
    // There are no more of its cursor.
    void remove_first()
    {
        cursors_[first_place()] = none;
        ++ended_;
        replace_first(UINT64_MAX);
    }

 private:
    static std::uint64_t earlier(std::uint32_t place, std::uint64_t tick, std::uint32_t other, std::uint64_t other_tick)
    {
        const auto before = static_cast<std::uint64_t>(tick < other_tick);
        const auto at_once = static_cast<std::uint64_t>(tick == other_tick);
        return before | (at_once & static_cast<std::uint64_t>(place < other));
    }
    void drop_ended()
    {
        std::size_t kept = 0;
        for (std::size_t place = 0; place < ticks_.size(); ++place) {
            if (cursors_[place] == none) continue;
            ticks_[kept] = ticks_[place];
            cursors_[kept++] = cursors_[place];
        }
        ticks_.resize(kept);
        cursors_.resize(kept);
        ended_ = 0;
        begin();
    }
    std::uint32_t first_place() const { return ticks_.size() == 1 ? 0 : winners_[1]; }

    static constexpr std::uint32_t none = UINT32_MAX;

    std::vector<std::uint64_t> ticks_;
    std::vector<std::uint32_t> cursors_;  // none: it ended
    std::size_t ended_ = 0;
    std::vector<std::uint32_t> winners_;  // places: of all at 1, of both halves at 2 and 3, ..; last all places
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
        if (cursor.advance()) next.add(cursor.tick(), static_cast<std::uint32_t>(cursors.size() - 1));
    }
    next.begin();
    const AttributeListHandle list{check(OTF2_AttributeList_New(), "read attributes")};
    const EventSource source{archive, spills.front()->references_, visitor};
    constexpr std::uint64_t events_at_once = 100'000;
    for (std::uint64_t events = 1; !next.empty(); ++events) {
        if (events % events_at_once == 0) getting_on();
        Cursor& cursor = cursors[next.first()];
        cursor.visit(visitor, list.get(), source);
        if (cursor.advance())
            next.replace_first(cursor.tick());
        else
            next.remove_first();
    }
}

}  // namespace otf2
