// SPDX-License-Identifier: Apache-2.0
// Connects OTF2's event callbacks to a Visitor: reference numbers become indices, ticks become ns, and events with
// undefined references are dropped and counted.
#pragma once

#include "trace-tools/otf2/handles.hpp"
#include "trace-tools/otf2/read/references.hpp"
#include "trace-tools/otf2/read/visitor.hpp"

#include <otf2/otf2.h>

#include <algorithm>
#include <cmath>
#include <exception>

namespace otf2 {

// Callbacks to register with an EventSource* as user data, for readers of one location and of all locations.
struct EventCallbacks {
    EventCallbacks();
    Handle<OTF2_EvtReaderCallbacks, OTF2_EvtReaderCallbacks_Delete> local;
    Handle<OTF2_GlobalEvtReaderCallbacks, OTF2_GlobalEvtReaderCallbacks_Delete> global;
};

class EventSource {
 public:
    EventSource(const Archive& archive, const ReferenceTable& references, Visitor& visitor)
        : archive_{archive}, references_{references}, visitor_{visitor}
    {
    }

    std::exception_ptr thrown() const { return thrown_; }  // exception of the visitor, which ended the pass

    std::uint64_t left_out() const { return left_out_; }
    std::uint64_t unknown() const { return unknown_; }  // number of events of kinds that this OTF2 does not know
    std::uint64_t samples() const { return samples_; }

    const Archive& archive() const { return archive_; }
    const ReferenceTable& references() const { return references_; }

 private:
    friend struct EventCallbacks;
    template <auto handler>
    friend struct Adapter;
    template <class... Rest>
    friend OTF2_CallbackCode other_local(OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void*, OTF2_AttributeList*,
                                         Rest...);
    template <class... Rest>
    friend OTF2_CallbackCode other_global(OTF2_LocationRef, OTF2_TimeStamp, void*, OTF2_AttributeList*, Rest...);

    // Runs a handler for the event if its location is known. Exceptions must not pass through OTF2's C code.
    template <class Work>
    OTF2_CallbackCode handle(OTF2_LocationRef location, OTF2_TimeStamp time, const Work& work)
    {
        if (location != last_location_) {
            last_index_ = references_.locations.at(location);
            last_location_ = location;
        }
        if (last_index_ == nowhere) {
            ++left_out_;
            return OTF2_CALLBACK_SUCCESS;
        }
        try {
            work(At{.location = last_index_, .time_ns = references_.time_ns(time), .tick = time});
            return OTF2_CALLBACK_SUCCESS;
        } catch (...) {
            thrown_ = std::current_exception();
            return OTF2_CALLBACK_INTERRUPT;
        }
    }

    EventAttributes attributes(const OTF2_AttributeList* list) const
    {
        return EventAttributes{list, archive_, references_};
    }

    void enter(const At& at, OTF2_AttributeList* list, OTF2_RegionRef region)
    {
        const std::uint32_t index = references_.regions.at(region);
        if (index != nowhere)
            visitor_.enter(at, index, attributes(list));
        else
            ++left_out_;
    }

    void leave(const At& at, OTF2_AttributeList* list, OTF2_RegionRef region)
    {
        const std::uint32_t index = references_.regions.at(region);
        if (index != nowhere)
            visitor_.leave(at, index, attributes(list));
        else
            ++left_out_;
    }

    void metric(const At& at, OTF2_AttributeList*, OTF2_MetricRef metric, std::uint8_t count, const OTF2_Type* types,
                const OTF2_MetricValue* values)
    {
        const std::uint32_t index = references_.metric_classes.at(metric);
        if (index == nowhere) {
            ++left_out_;
            return;
        }
        const std::vector<std::uint32_t>& members = references_.class_members[index];
        if (count > members.size()) ++left_out_;
        for (std::size_t i = 0; i < std::min<std::size_t>(count, members.size()); ++i) {
            if (members[i] == nowhere) continue;
            MetricValue value;
            value.member = static_cast<std::uint8_t>(i);
            value.type = types[i] == OTF2_TYPE_DOUBLE  ? Type::real
                         : types[i] == OTF2_TYPE_INT64 ? Type::int64
                                                       : Type::uint64;
            value.uint64 = values[i].unsigned_int;  // has the size of the other members of the union
            if (members.size() > 1 && value.type == Type::real && std::isnan(value.real))
                continue;  // no value this time
            visitor_.metric(at, members[i], value);
        }
    }

    void collective_begin(const At& at, OTF2_AttributeList*) { visitor_.collective_begin(at); }

    void collective_end(const At& at, OTF2_AttributeList*, OTF2_CollectiveOp operation, OTF2_CommRef communicator,
                        std::uint32_t root, std::uint64_t sent, std::uint64_t received)
    {
        visitor_.collective_end(at, {.operation = static_cast<Operation>(operation),
                                     .communicator = references_.communicators.at(communicator),
                                     .root = root,
                                     .sent_bytes = sent,
                                     .received_bytes = received,
                                     .request = no_request});
    }

    void collective_request(const At& at, OTF2_AttributeList*, std::uint64_t request)
    {
        visitor_.collective_request(at, request);
    }

    void collective_complete(const At& at, OTF2_AttributeList*, OTF2_CollectiveOp operation, OTF2_CommRef communicator,
                             std::uint32_t root, std::uint64_t sent, std::uint64_t received, std::uint64_t request)
    {
        visitor_.collective_complete(at, {.operation = static_cast<Operation>(operation),
                                          .communicator = references_.communicators.at(communicator),
                                          .root = root,
                                          .sent_bytes = sent,
                                          .received_bytes = received,
                                          .request = request});
    }

    void send(const At& at, OTF2_AttributeList* list, std::uint32_t receiver, OTF2_CommRef communicator,
              std::uint32_t tag, std::uint64_t bytes)
    {
        send_request(at, list, receiver, communicator, tag, bytes, no_request);
    }

    void send_request(const At& at, OTF2_AttributeList*, std::uint32_t receiver, OTF2_CommRef communicator,
                      std::uint32_t tag, std::uint64_t bytes, std::uint64_t request)
    {
        visitor_.send(at, {.peer = receiver,
                           .communicator = references_.communicators.at(communicator),
                           .tag = tag,
                           .bytes = bytes,
                           .request = request});
    }

    void send_complete(const At& at, OTF2_AttributeList*, std::uint64_t request)
    {
        visitor_.send_complete(at, request);
    }

    void receive(const At& at, OTF2_AttributeList* list, std::uint32_t sender, OTF2_CommRef communicator,
                 std::uint32_t tag, std::uint64_t bytes)
    {
        receive_complete(at, list, sender, communicator, tag, bytes, no_request);
    }

    void receive_request(const At& at, OTF2_AttributeList*, std::uint64_t request)
    {
        visitor_.receive_request(at, request);
    }

    void receive_complete(const At& at, OTF2_AttributeList*, std::uint32_t sender, OTF2_CommRef communicator,
                          std::uint32_t tag, std::uint64_t bytes, std::uint64_t request)
    {
        visitor_.receive(at, {.peer = sender,
                              .communicator = references_.communicators.at(communicator),
                              .tag = tag,
                              .bytes = bytes,
                              .request = request});
    }

    void buffer_flush(const At& at, OTF2_AttributeList*, OTF2_TimeStamp end)
    {
        visitor_.buffer_flush(at, references_.time_ns(end));
    }

    void transfer_begin(const At& at, OTF2_AttributeList*, OTF2_RmaWinRef, std::uint32_t, std::uint64_t, std::uint64_t)
    {
        visitor_.transfer_begin(at);
    }

    void transfer_end(const At& at, OTF2_AttributeList*, OTF2_RmaWinRef, std::uint64_t) { visitor_.transfer_end(at); }

    void calling_context(const At& at, OTF2_AttributeList*, OTF2_CallingContextRef, std::uint32_t)
    {
        ++samples_;
        visitor_.other(at);
    }

    void calling_context_left(const At& at, OTF2_AttributeList* list, OTF2_CallingContextRef context)
    {
        calling_context(at, list, context, 0);
    }

    void calling_context_sampled(const At& at, OTF2_AttributeList* list, OTF2_CallingContextRef context,
                                 std::uint32_t unwound, OTF2_InterruptGeneratorRef)
    {
        calling_context(at, list, context, unwound);
    }

    void of_unknown_kind(const At& at, OTF2_AttributeList*)
    {
        ++unknown_;
        visitor_.other(at);
    }

    const Archive& archive_;
    const ReferenceTable& references_;
    Visitor& visitor_;
    std::uint64_t left_out_ = 0;
    std::uint64_t unknown_ = 0;
    std::uint64_t samples_ = 0;
    OTF2_LocationRef last_location_ = OTF2_UNDEFINED_LOCATION;
    std::uint32_t last_index_ = nowhere;
    std::exception_ptr thrown_;
};

}  // namespace otf2
