// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/otf2/read/event_source.hpp"

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

#define HANDLED(Event, handler)                                                                       \
    OTF2_EvtReaderCallbacks_Set##Event##Callback(local.get(), Adapter<&EventSource::handler>::local); \
    OTF2_GlobalEvtReaderCallbacks_Set##Event##Callback(global.get(), Adapter<&EventSource::handler>::global);
#define EVENT(Event)                                                        \
    OTF2_EvtReaderCallbacks_Set##Event##Callback(local.get(), other_local); \
    OTF2_GlobalEvtReaderCallbacks_Set##Event##Callback(global.get(), other_global);

EventCallbacks::EventCallbacks()
    : local{check(OTF2_EvtReaderCallbacks_New(), "read events")},
      global{check(OTF2_GlobalEvtReaderCallbacks_New(), "read events")}
{
#include "trace-tools/otf2/events.inc"
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
    HANDLED(RmaPut, transfer_begin)
    HANDLED(RmaGet, transfer_begin)
    HANDLED(RmaOpCompleteBlocking, transfer_end)
    HANDLED(CallingContextEnter, calling_context)
    HANDLED(CallingContextLeave, calling_context_left)
    HANDLED(CallingContextSample, calling_context_sampled)
}

#undef HANDLED
#undef EVENT

}  // namespace otf2
