// Events on their way to a visitor on a thread of its own: reading goes on while it works.
//
//     otf2::Handover handover{reader, visitor};
//     reader.read(handover);
//     handover.finish();
#pragma once

#include "base/system/conveyor.hpp"
#include "trace-tools/otf2/handles.hpp"
#include "trace-tools/otf2/read/event_source.hpp"
#include "trace-tools/otf2/read/fan_out.hpp"
#include "trace-tools/otf2/read/reader.hpp"

#include <otf2/otf2.h>

#include <cstdint>
#include <variant>
#include <vector>

namespace otf2 {

// The visitor sees each event, in the order of reading. What it throws comes out of a later event or of finish().
class Handover : public Visitor {
 public:
    Handover(const Reader& reader, Visitor& visitor)
        : visitor_{visitor},
          source_{reader.archive_, *reader.references_, visitor},
          list_{check(OTF2_AttributeList_New(), "read attributes")},
          conveyor_{[this](const Chunk& chunk) {
              for (const Event& event : chunk.events) visit(event, chunk.attributes);
          }}
    {
    }
    // Returns when all events are visited.
    void finish() { conveyor_.finish(); }

    void enter(const At& at, std::uint32_t region, const EventAttributes& attributes) override
    {
        add(at, Enter{region, kept(attributes)});
    }
    void leave(const At& at, std::uint32_t region, const EventAttributes& attributes) override
    {
        add(at, Leave{region, kept(attributes)});
    }
    void metric(const At& at, std::uint32_t metric, const MetricValue& value) override
    {
        add(at, Metric{metric, value});
    }
    void collective_begin(const At& at) override { add(at, CollectiveBegin{}); }
    void collective_end(const At& at, const CollectiveRecord& record) override { add(at, CollectiveEnd{record}); }
    void collective_request(const At& at, std::uint64_t request) override { add(at, CollectiveRequest{request}); }
    void collective_complete(const At& at, const CollectiveRecord& record) override
    {
        add(at, CollectiveComplete{record});
    }
    void send(const At& at, const MessageRecord& message) override { add(at, Send{message}); }
    void send_complete(const At& at, std::uint64_t request) override { add(at, SendComplete{request}); }
    void receive_request(const At& at, std::uint64_t request) override { add(at, ReceiveRequest{request}); }
    void receive(const At& at, const MessageRecord& message) override { add(at, Receive{message}); }
    void buffer_flush(const At& at, std::int64_t end_ns) override { add(at, BufferFlush{end_ns}); }
    void transfer_begin(const At& at) override { add(at, TransferBegin{}); }
    void transfer_end(const At& at) override { add(at, TransferEnd{}); }
    void other(const At& at) override { add(at, Other{}); }

 private:
    // Of a chunk's attributes.
    struct Range {
        std::uint32_t begin;
        std::uint32_t count;
    };
    struct Enter {
        std::uint32_t region;
        Range attributes;
    };
    struct Leave {
        std::uint32_t region;
        Range attributes;
    };
    struct Metric {
        std::uint32_t metric;
        MetricValue value;
    };
    struct CollectiveBegin {};
    struct CollectiveEnd {
        CollectiveRecord record;
    };
    struct CollectiveRequest {
        std::uint64_t request;
    };
    struct CollectiveComplete {
        CollectiveRecord record;
    };
    struct Send {
        MessageRecord message;
    };
    struct SendComplete {
        std::uint64_t request;
    };
    struct ReceiveRequest {
        std::uint64_t request;
    };
    struct Receive {
        MessageRecord message;
    };
    struct BufferFlush {
        std::int64_t end_ns;
    };
    struct TransferBegin {};
    struct TransferEnd {};
    struct Other {};

    struct Event {
        At at;
        std::variant<Enter, Leave, Metric, CollectiveBegin, CollectiveEnd, CollectiveRequest, CollectiveComplete, Send,
                     SendComplete, ReceiveRequest, Receive, BufferFlush, TransferBegin, TransferEnd, Other>
            what;
    };
    struct Attribute {
        OTF2_AttributeRef id;
        OTF2_Type type;
        OTF2_AttributeValue value;
    };
    struct Chunk {
        std::vector<Event> events;
        std::vector<Attribute> attributes;
        void clear()
        {
            events.clear();
            attributes.clear();
        }
    };

    static constexpr std::size_t events_at_once = 2048;

    template <class What>
    void add(const At& at, const What& what)
    {
        std::vector<Event>& events = conveyor_.chunk().events;
        events.push_back({at, what});
        if (events.size() == events_at_once) conveyor_.pass_on();
    }

    Range kept(const EventAttributes& attributes)
    {
        std::vector<Attribute>& all = conveyor_.chunk().attributes;
        const Range range{static_cast<std::uint32_t>(all.size()), static_cast<std::uint32_t>(attributes.size())};
        for (std::uint32_t i = 0; i < range.count; ++i) {
            Attribute& one = all.emplace_back();
            check(OTF2_AttributeList_GetAttributeByIndex(attributes.list_, i, &one.id, &one.type, &one.value),
                  "read an attribute");
        }
        return range;
    }

    EventAttributes restored(Range range, const std::vector<Attribute>& all)
    {
        if (range.count == 0) return EventAttributes{nullptr, source_};
        check(OTF2_AttributeList_RemoveAllAttributes(list_.get()), "read attributes");
        for (std::uint32_t i = range.begin; i < range.begin + range.count; ++i)
            check(OTF2_AttributeList_AddAttribute(list_.get(), all[i].id, all[i].type, all[i].value),
                  "read an attribute");
        return EventAttributes{list_.get(), source_};
    }

    void visit(const Event& event, const std::vector<Attribute>& attributes)
    {
        const At& at = event.at;
        struct Overloads {
            Handover& self;
            const At& at;
            const std::vector<Attribute>& attributes;
            void operator()(const Enter& e) const
            {
                self.visitor_.enter(at, e.region, self.restored(e.attributes, attributes));
            }
            void operator()(const Leave& e) const
            {
                self.visitor_.leave(at, e.region, self.restored(e.attributes, attributes));
            }
            void operator()(const Metric& e) const { self.visitor_.metric(at, e.metric, e.value); }
            void operator()(const CollectiveBegin&) const { self.visitor_.collective_begin(at); }
            void operator()(const CollectiveEnd& e) const { self.visitor_.collective_end(at, e.record); }
            void operator()(const CollectiveRequest& e) const { self.visitor_.collective_request(at, e.request); }
            void operator()(const CollectiveComplete& e) const { self.visitor_.collective_complete(at, e.record); }
            void operator()(const Send& e) const { self.visitor_.send(at, e.message); }
            void operator()(const SendComplete& e) const { self.visitor_.send_complete(at, e.request); }
            void operator()(const ReceiveRequest& e) const { self.visitor_.receive_request(at, e.request); }
            void operator()(const Receive& e) const { self.visitor_.receive(at, e.message); }
            void operator()(const BufferFlush& e) const { self.visitor_.buffer_flush(at, e.end_ns); }
            void operator()(const TransferBegin&) const { self.visitor_.transfer_begin(at); }
            void operator()(const TransferEnd&) const { self.visitor_.transfer_end(at); }
            void operator()(const Other&) const { self.visitor_.other(at); }
        };
        std::visit(Overloads{*this, at, attributes}, event.what);
    }

    Visitor& visitor_;
    const EventSource source_;
    const AttributeListHandle list_;
    base::Conveyor<Chunk> conveyor_;
};

}  // namespace otf2
