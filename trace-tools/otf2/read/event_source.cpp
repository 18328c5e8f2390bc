// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/otf2/read/event_source.hpp"

#include <algorithm>
#include <cmath>

namespace otf2 {

// Adapts a member function of EventSource to both kinds of OTF2 callbacks.
template <auto handler>
struct Adapter;
template <class... Rest, void (EventSource::*handler)(const At&, OTF2_AttributeList*, Rest...)>
struct Adapter<handler> {
    static OTF2_CallbackCode global(OTF2_LocationRef location, OTF2_TimeStamp time, void* user,
                                    OTF2_AttributeList* list, Rest... rest)
    {
        EventSource& source = *static_cast<EventSource*>(user);
        return source.handle(location, time, [&](const At& at) { (source.*handler)(at, list, rest...); });
    }
    static OTF2_CallbackCode local(OTF2_LocationRef location, OTF2_TimeStamp time, std::uint64_t, void* user,
                                   OTF2_AttributeList* list, Rest... rest)
    {
        return global(location, time, user, list, rest...);
    }
};

// Callback for all other events, whatever their arguments.
template <class... Rest>
OTF2_CallbackCode other_global(OTF2_LocationRef location, OTF2_TimeStamp time, void* user, OTF2_AttributeList*, Rest...)
{
    EventSource& source = *static_cast<EventSource*>(user);
    return source.handle(location, time, [&](const At& at) { source.visitor_.other(at); });
}
template <class... Rest>
OTF2_CallbackCode other_local(OTF2_LocationRef location, OTF2_TimeStamp time, std::uint64_t, void* user,
                              OTF2_AttributeList* list, Rest... rest)
{
    return other_global<Rest...>(location, time, user, list, rest...);
}

void EventSource::enter(const At& at, OTF2_AttributeList* list, OTF2_RegionRef region)
{
    const std::uint32_t index = references_.regions.at(region);
    if (index != nowhere)
        visitor_.enter(at, index, attributes(list));
    else
        ++left_out_;
}

void EventSource::leave(const At& at, OTF2_AttributeList* list, OTF2_RegionRef region)
{
    const std::uint32_t index = references_.regions.at(region);
    if (index != nowhere)
        visitor_.leave(at, index, attributes(list));
    else
        ++left_out_;
}

void EventSource::metric(const At& at, OTF2_AttributeList*, OTF2_MetricRef metric, std::uint8_t count,
                         const OTF2_Type* types, const OTF2_MetricValue* values)
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
        if (members.size() > 1 && value.type == Type::real && std::isnan(value.real)) continue;  // no value this time
        visitor_.metric(at, members[i], value);
    }
}

void EventSource::collective_begin(const At& at, OTF2_AttributeList*)
{
    visitor_.collective_begin(at);
}

void EventSource::collective_end(const At& at, OTF2_AttributeList*, OTF2_CollectiveOp operation,
                                 OTF2_CommRef communicator, std::uint32_t root, std::uint64_t sent,
                                 std::uint64_t received)
{
    visitor_.collective_end(at, {.operation = static_cast<Operation>(operation),
                                 .communicator = references_.communicators.at(communicator),
                                 .root = root,
                                 .sent_bytes = sent,
                                 .received_bytes = received,
                                 .request = no_request});
}

void EventSource::collective_request(const At& at, OTF2_AttributeList*, std::uint64_t request)
{
    visitor_.collective_request(at, request);
}

void EventSource::collective_complete(const At& at, OTF2_AttributeList*, OTF2_CollectiveOp operation,
                                      OTF2_CommRef communicator, std::uint32_t root, std::uint64_t sent,
                                      std::uint64_t received, std::uint64_t request)
{
    visitor_.collective_complete(at, {.operation = static_cast<Operation>(operation),
                                      .communicator = references_.communicators.at(communicator),
                                      .root = root,
                                      .sent_bytes = sent,
                                      .received_bytes = received,
                                      .request = request});
}

void EventSource::send(const At& at, OTF2_AttributeList* list, std::uint32_t receiver, OTF2_CommRef communicator,
                       std::uint32_t tag, std::uint64_t bytes)
{
    send_request(at, list, receiver, communicator, tag, bytes, no_request);
}

void EventSource::send_request(const At& at, OTF2_AttributeList*, std::uint32_t receiver, OTF2_CommRef communicator,
                               std::uint32_t tag, std::uint64_t bytes, std::uint64_t request)
{
    visitor_.send(at, {.peer = receiver,
                       .communicator = references_.communicators.at(communicator),
                       .tag = tag,
                       .bytes = bytes,
                       .request = request});
}

void EventSource::send_complete(const At& at, OTF2_AttributeList*, std::uint64_t request)
{
    visitor_.send_complete(at, request);
}

void EventSource::receive(const At& at, OTF2_AttributeList* list, std::uint32_t sender, OTF2_CommRef communicator,
                          std::uint32_t tag, std::uint64_t bytes)
{
    receive_complete(at, list, sender, communicator, tag, bytes, no_request);
}

void EventSource::receive_request(const At& at, OTF2_AttributeList*, std::uint64_t request)
{
    visitor_.receive_request(at, request);
}

void EventSource::receive_complete(const At& at, OTF2_AttributeList*, std::uint32_t sender, OTF2_CommRef communicator,
                                   std::uint32_t tag, std::uint64_t bytes, std::uint64_t request)
{
    visitor_.receive(at, {.peer = sender,
                          .communicator = references_.communicators.at(communicator),
                          .tag = tag,
                          .bytes = bytes,
                          .request = request});
}

void EventSource::buffer_flush(const At& at, OTF2_AttributeList*, OTF2_TimeStamp end)
{
    visitor_.buffer_flush(at, references_.time_ns(end));
}

void EventSource::transfer_begin(const At& at, OTF2_AttributeList*, OTF2_RmaWinRef, std::uint32_t, std::uint64_t,
                                 std::uint64_t)
{
    visitor_.transfer_begin(at);
}

void EventSource::transfer_end(const At& at, OTF2_AttributeList*, OTF2_RmaWinRef, std::uint64_t)
{
    visitor_.transfer_end(at);
}

void EventSource::calling_context(const At& at, OTF2_AttributeList*, OTF2_CallingContextRef, std::uint32_t)
{
    ++samples_;
    visitor_.other(at);
}

void EventSource::calling_context_left(const At& at, OTF2_AttributeList* list, OTF2_CallingContextRef context)
{
    calling_context(at, list, context, 0);
}

void EventSource::calling_context_sampled(const At& at, OTF2_AttributeList* list, OTF2_CallingContextRef context,
                                          std::uint32_t unwound, OTF2_InterruptGeneratorRef)
{
    calling_context(at, list, context, unwound);
}

void EventSource::of_unknown_kind(const At& at, OTF2_AttributeList*)
{
    ++unknown_;
    visitor_.other(at);
}

#define HANDLED(Event, handler)                                                                       \
    OTF2_EvtReaderCallbacks_Set##Event##Callback(local.get(), Adapter<&EventSource::handler>::local); \
    OTF2_GlobalEvtReaderCallbacks_Set##Event##Callback(global.get(), Adapter<&EventSource::handler>::global);
#define OTHER(Event)                                                        \
    OTF2_EvtReaderCallbacks_Set##Event##Callback(local.get(), other_local); \
    OTF2_GlobalEvtReaderCallbacks_Set##Event##Callback(global.get(), other_global);

EventCallbacks::EventCallbacks()
    : local{check(OTF2_EvtReaderCallbacks_New(), "read events")},
      global{check(OTF2_GlobalEvtReaderCallbacks_New(), "read events")}
{
    HANDLED(Enter, enter)
    HANDLED(Leave, leave)
    HANDLED(Metric, metric)
    HANDLED(MpiCollectiveBegin, collective_begin)
    HANDLED(MpiCollectiveEnd, collective_end)
    HANDLED(NonBlockingCollectiveRequest, collective_request)
    HANDLED(NonBlockingCollectiveComplete, collective_complete)
    HANDLED(MpiSend, send)
    HANDLED(MpiIsend, send_request)
    HANDLED(MpiIsendComplete, send_complete)
    HANDLED(MpiRecv, receive)
    HANDLED(MpiIrecvRequest, receive_request)
    HANDLED(MpiIrecv, receive_complete)
    HANDLED(BufferFlush, buffer_flush)
    HANDLED(Unknown, of_unknown_kind)
    OTHER(MeasurementOnOff)
    OTHER(MpiRequestTest)
    OTHER(MpiRequestCancelled)
    OTHER(OmpFork)
    OTHER(OmpJoin)
    OTHER(OmpAcquireLock)
    OTHER(OmpReleaseLock)
    OTHER(OmpTaskCreate)
    OTHER(OmpTaskSwitch)
    OTHER(OmpTaskComplete)
    OTHER(ParameterString)
    OTHER(ParameterInt)
    OTHER(ParameterUnsignedInt)
    OTHER(RmaWinCreate)
    OTHER(RmaWinDestroy)
    OTHER(RmaCollectiveBegin)
    OTHER(RmaCollectiveEnd)
    OTHER(RmaGroupSync)
    OTHER(RmaRequestLock)
    OTHER(RmaAcquireLock)
    OTHER(RmaTryLock)
    OTHER(RmaReleaseLock)
    OTHER(RmaSync)
    OTHER(RmaWaitChange)
    HANDLED(RmaPut, transfer_begin)
    HANDLED(RmaGet, transfer_begin)
    OTHER(RmaAtomic)
    HANDLED(RmaOpCompleteBlocking, transfer_end)
    OTHER(RmaOpCompleteNonBlocking)
    OTHER(RmaOpTest)
    OTHER(RmaOpCompleteRemote)
    OTHER(ThreadFork)
    OTHER(ThreadJoin)
    OTHER(ThreadTeamBegin)
    OTHER(ThreadTeamEnd)
    OTHER(ThreadAcquireLock)
    OTHER(ThreadReleaseLock)
    OTHER(ThreadTaskCreate)
    OTHER(ThreadTaskSwitch)
    OTHER(ThreadTaskComplete)
    OTHER(ThreadCreate)
    OTHER(ThreadBegin)
    OTHER(ThreadWait)
    OTHER(ThreadEnd)
    HANDLED(CallingContextEnter, calling_context)
    HANDLED(CallingContextLeave, calling_context_left)
    HANDLED(CallingContextSample, calling_context_sampled)
    OTHER(IoCreateHandle)
    OTHER(IoDestroyHandle)
    OTHER(IoDuplicateHandle)
    OTHER(IoSeek)
    OTHER(IoChangeStatusFlags)
    OTHER(IoDeleteFile)
    OTHER(IoOperationBegin)
    OTHER(IoOperationTest)
    OTHER(IoOperationIssued)
    OTHER(IoOperationComplete)
    OTHER(IoOperationCancelled)
    OTHER(IoAcquireLock)
    OTHER(IoReleaseLock)
    OTHER(IoTryLock)
    OTHER(ProgramBegin)
    OTHER(ProgramEnd)
    OTHER(CommCreate)
    OTHER(CommDestroy)
}

#undef HANDLED
#undef OTHER

}  // namespace otf2
