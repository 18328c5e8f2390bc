// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/otf2/read/confined.hpp"
#include "trace-tools/otf2/read/references.hpp"
#include "trace-tools/otf2/read/spill.hpp"
#include "trace-tools/otf2/read/spill_format.hpp"

#include <algorithm>
#include <cstring>

#include <unistd.h>

namespace otf2 {

// Reads a section of the file sequentially, through a window in memory.
class Spill::Cursor {
 public:
    Cursor(int file, const Section& section, bool device, std::size_t window_bytes)
        : file_{file},
          next_{section.begin},
          end_{section.end},
          location_{section.location},
          device_{device},
          window_(window_bytes)
    {
    }

    // Reads up to and including the next event's time. Returns false at the end.
    bool advance()
    {
        need(longest_event);
        if (at_ == filled_) return false;
        const char* at = window_.data() + at_;
        kind_ = static_cast<Kind>(*at++);
        tick_ += unfolded(number_at(at));
        at_ = static_cast<std::size_t>(at - window_.data());
        return true;
    }

    std::uint64_t tick() const { return tick_; }
    std::uint64_t order() const { return std::min(tick_, UINT64_MAX >> 2U) << 2U | turn(); }

    // Appends the event to the chunk.
    void move_to(Merge::Chunk& chunk)
    {
        char* end = chunk.room(longest_event);
        end = put_bytes(end, kind_);
        end = put_bytes(end, location_);
        end = put_bytes(end, tick_);
        chunk.end_at(copy(numbers_of(kind_), end));
        if (!has_attributes(kind_)) return;
        const char* at = window_.data() + at_;
        std::uint64_t attributes = number_at(at);
        chunk.end_at(copy(1, chunk.room(longest_attribute)));
        for (; attributes > 0; --attributes) {
            need(longest_attribute);
            chunk.end_at(copy(numbers_of_attribute, chunk.room(longest_attribute)));
        }
    }

 private:
    // Order of events with the same tick: a device ends before the host's synchronisation does, and begins after the
    // host's call. Events that depend on another location's event come last: receives and ends of collectives.
    std::uint64_t turn() const
    {
        switch (kind_) {
            case Kind::receive:
            case Kind::collective_end:
            case Kind::collective_complete:
                return 3;
            case Kind::enter:
            case Kind::enter_with_attributes:
                return device_ ? 2 : 1;
            case Kind::leave:
            case Kind::leave_with_attributes:
                return device_ ? 0 : 1;
            default:
                return 1;
        }
    }

    // Makes `bytes` bytes available in the window, or all remaining ones.
    void need(std::size_t bytes)
    {
        if (filled_ - at_ < bytes && next_ != end_) refill();
    }
    void refill()
    {
        std::memmove(window_.data(), window_.data() + at_, filled_ - at_);
        filled_ -= at_;
        at_ = 0;
        while (filled_ < window_.size() && next_ < end_) {
            const auto most = std::min<std::uint64_t>(window_.size() - filled_, end_ - next_);
            const auto read = base::check_errno(
                ::pread(file_, window_.data() + filled_, most, static_cast<off_t>(next_)), "read spilled events");
            if (read == 0) base::fail("the temporary file of events is shorter than what was written to it");
            filled_ += static_cast<std::size_t>(read);
            next_ += static_cast<std::uint64_t>(read);
        }
    }

    // Copies `numbers` encoded numbers. Returns the end of the copy.
    char* copy(unsigned numbers, char* to)
    {
        const char* from = window_.data() + at_;
        for (; numbers > 0; --numbers) {
            while (is_continued(*from)) *to++ = *from++;
            *to++ = *from++;
        }
        at_ = static_cast<std::size_t>(from - window_.data());
        return to;
    }

    int file_;
    std::uint64_t next_;  // file offset of the next byte to read
    std::uint64_t end_;
    std::uint32_t location_;
    bool device_;
    std::vector<char> window_;
    std::size_t at_ = 0;
    std::size_t filled_ = 0;
    Kind kind_{};
    std::uint64_t tick_ = 0;
};

// A tournament tree of each cursor's next event. first() is the cursor with the earliest event; among equal ones, the
// smaller cursor. Comparisons have no branches, as their outcome is unpredictable.
class Spill::Merge::NextEvents {
 public:
    // Call before begin(). `order` combines an event's time with its turn at that time.
    void add(std::uint64_t order, std::uint32_t cursor)
    {
        orders_.push_back(order);
        cursors_.push_back(cursor);
    }
    void begin()
    {
        const std::size_t count = orders_.size();
        winners_.resize(2 * count);
        for (std::size_t i = 0; i < count; ++i) winners_[count + i] = static_cast<std::uint32_t>(i);
        for (std::size_t i = count; i-- > 1;) {
            const std::uint32_t one = winners_[2 * i];
            const std::uint32_t other = winners_[2 * i + 1];
            winners_[i] = earlier(one, orders_[one], other, orders_[other]) != 0 ? one : other;
        }
    }

    bool empty() const { return orders_.empty(); }
    std::uint32_t first() const { return cursors_[first_place()]; }

    // Replaces the first entry by the next event of the same cursor.
    void replace_first(std::uint64_t order)
    {
        std::uint32_t winner = first_place();
        orders_[winner] = order;
        for (std::size_t at = orders_.size() + winner; at > 1; at /= 2) {
            const std::uint32_t other = winners_[at ^ 1U];
            const std::uint64_t other_order = orders_[other];
            const std::uint64_t changes = std::uint64_t{0} - earlier(other, other_order, winner, order);
            winner ^= (winner ^ other) & static_cast<std::uint32_t>(changes);
            order ^= (order ^ other_order) & changes;
            winners_[at / 2] = winner;
        }
        if (order == UINT64_MAX || 2 * ended_ > orders_.size()) drop_ended();
    }
    // Removes the first entry: its cursor has no more events.
    void remove_first()
    {
        cursors_[first_place()] = none;
        ++ended_;
        replace_first(UINT64_MAX);
    }

 private:
    static std::uint64_t earlier(std::uint32_t place, std::uint64_t order, std::uint32_t other,
                                 std::uint64_t other_order)
    {
        const auto before = static_cast<std::uint64_t>(order < other_order);
        const auto at_once = static_cast<std::uint64_t>(order == other_order);
        return before | (at_once & static_cast<std::uint64_t>(place < other));
    }
    void drop_ended()
    {
        std::size_t kept = 0;
        for (std::size_t place = 0; place < orders_.size(); ++place) {
            if (cursors_[place] == none) continue;
            orders_[kept] = orders_[place];
            cursors_[kept++] = cursors_[place];
        }
        orders_.resize(kept);
        cursors_.resize(kept);
        ended_ = 0;
        begin();
    }
    std::uint32_t first_place() const { return orders_.size() == 1 ? 0 : winners_[1]; }

    static constexpr std::uint32_t none = UINT32_MAX;

    std::vector<std::uint64_t> orders_;
    std::vector<std::uint32_t> cursors_;  // none: the cursor has ended
    std::size_t ended_ = 0;
    std::vector<std::uint32_t> winners_;  // a heap: the overall winner at 1, winners of its halves at 2 and 3, ...
};

Spill::Merge::Merge(std::span<Spill* const> spills)
    : next_{std::make_unique<NextEvents>()}, list_{check(OTF2_AttributeList_New(), "read attributes")}
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
    any_ = spills.front();
    const auto number = [&](const Part& part) { return any_->archive_.locations[part.section.location].id; };
    std::ranges::sort(parts, [&](const Part& one, const Part& other) { return number(one) < number(other); });
    constexpr std::size_t all_windows = 16 << 20;
    const std::size_t window = std::clamp<std::size_t>(all_windows / parts.size(), 4 << 10, 64 << 10);
    cursors_.reserve(parts.size());
    for (const auto& [spill, section] : parts) {
        const bool device = any_->archive_.locations[section.location].kind == LocationKind::accelerator_stream;
        Cursor& cursor = cursors_.emplace_back(spill->file_, section, device, window);
        if (cursor.advance()) next_->add(cursor.order(), static_cast<std::uint32_t>(cursors_.size() - 1));
    }
    next_->begin();
}

Spill::Merge::~Merge() = default;

bool Spill::Merge::next(Chunk& chunk)
{
    getting_on();
    chunk.used = 0;
    while (!next_->empty() && chunk.used < Chunk::full) {
        Cursor& cursor = cursors_[next_->first()];
        const std::uint64_t order = cursor.order();
        cursor.move_to(chunk);
        if (!cursor.advance())
            next_->remove_first();
        else if (cursor.order() != order)  // otherwise it stays first
            next_->replace_first(cursor.order());
    }
    return chunk.used > 0;
}

// Decodes the arguments of an event.
class Spill::Merge::Arguments {
 public:
    explicit Arguments(const char*& at) : at_{at} {}

    std::uint64_t number() { return number_at(at_); }
    std::uint32_t small() { return static_cast<std::uint32_t>(number()); }

    MetricValue metric()
    {
        MetricValue value;
        value.type = static_cast<Type>(number());
        value.member = static_cast<std::uint8_t>(number());
        value.uint64 = number();
        return value;
    }
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
    void attributes(OTF2_AttributeList* list)
    {
        check(OTF2_AttributeList_RemoveAllAttributes(list), "read attributes");
        for (std::uint64_t left = number(); left > 0; --left) {
            const OTF2_AttributeRef id = small();
            const auto type = static_cast<OTF2_Type>(number());
            OTF2_AttributeValue value{};
            value.uint64 = number();
            check(OTF2_AttributeList_AddAttribute(list, id, type, value), "read an attribute");
        }
    }

 private:
    const char*& at_;
};

void Spill::Merge::visit(const Chunk& chunk, Visitor& visitor) const
{
    const EventAttributes none{nullptr, any_->archive_, any_->references_};
    const EventAttributes some{list_.get(), any_->archive_, any_->references_};
    const char* next = chunk.begin();
    Arguments arguments{next};
    while (next != chunk.end()) {
        const auto kind = take_bytes<Kind>(next);
        At at{};
        at.location = take_bytes<std::uint32_t>(next);
        at.tick = take_bytes<std::uint64_t>(next);
        at.time_ns = any_->references_.time_ns(at.tick);
        switch (kind) {
            case Kind::enter:
                visitor.enter(at, arguments.small(), none);
                break;
            case Kind::leave:
                visitor.leave(at, arguments.small(), none);
                break;
            case Kind::enter_with_attributes: {
                const std::uint32_t region = arguments.small();
                arguments.attributes(list_.get());
                visitor.enter(at, region, some);
                break;
            }
            case Kind::leave_with_attributes: {
                const std::uint32_t region = arguments.small();
                arguments.attributes(list_.get());
                visitor.leave(at, region, some);
                break;
            }
            case Kind::metric: {
                const std::uint32_t metric = arguments.small();
                visitor.metric(at, metric, arguments.metric());
                break;
            }
            case Kind::collective_begin:
                visitor.collective_begin(at);
                break;
            case Kind::collective_end:
                visitor.collective_end(at, arguments.collective());
                break;
            case Kind::collective_request:
                visitor.collective_request(at, arguments.number());
                break;
            case Kind::collective_complete:
                visitor.collective_complete(at, arguments.collective());
                break;
            case Kind::send:
                visitor.send(at, arguments.message());
                break;
            case Kind::send_complete:
                visitor.send_complete(at, arguments.number());
                break;
            case Kind::receive_request:
                visitor.receive_request(at, arguments.number());
                break;
            case Kind::receive:
                visitor.receive(at, arguments.message());
                break;
            case Kind::buffer_flush:
                visitor.buffer_flush(at, later(at.time_ns, arguments.number()));
                break;
            case Kind::transfer_begin:
                visitor.transfer_begin(at);
                break;
            case Kind::transfer_end:
                visitor.transfer_end(at);
                break;
            case Kind::other:
                visitor.other(at);
                break;
        }
    }
}

}  // namespace otf2
