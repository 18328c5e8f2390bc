// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/merge/event_copy.hpp"

#include "trace-tools/otf2/handles.hpp"
#include "trace-tools/otf2/read/confined.hpp"

#include <new>

// Needed for the OpenMP events of old archives, which must still be copied.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace merge {

namespace {

using EventCallbacks = otf2::Handle<OTF2_EvtReaderCallbacks, OTF2_EvtReaderCallbacks_Delete>;

struct Copy {
    OTF2_EvtWriter* writer;
    const IoParadigms& io_paradigms;
    const Resolution& resolution;
    CopiedEvents found;
    OTF2_ErrorCode failure = OTF2_SUCCESS;

    OTF2_CallbackCode wrote(OTF2_ErrorCode code, OTF2_TimeStamp time)
    {
        if (code != OTF2_SUCCESS) {
            failure = code;
            return OTF2_CALLBACK_INTERRUPT;
        }
        ++found.events;
        if (time < found.first) found.first = time;
        if (time > found.last) found.last = time;
        return OTF2_CALLBACK_SUCCESS;
    }
};

// The call that writes an event has the arguments of the callback that reads it.
template <auto write>
struct Event;
template <class... Arguments,
          OTF2_ErrorCode (*write)(OTF2_EvtWriter*, OTF2_AttributeList*, OTF2_TimeStamp, Arguments...)>
struct Event<write> {
    static OTF2_CallbackCode copy(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* user,
                                  OTF2_AttributeList* attributes, Arguments... arguments)
    {
        Copy& copy = *static_cast<Copy*>(user);
        const OTF2_TimeStamp now = copy.resolution(time);
        return copy.wrote(write(copy.writer, attributes, now, arguments...), now);
    }
};

OTF2_CallbackCode copy_metric(OTF2_LocationRef location, OTF2_TimeStamp time, std::uint64_t position, void* user,
                              OTF2_AttributeList* attributes, OTF2_MetricRef metric, std::uint8_t count,
                              const OTF2_Type* types, const OTF2_MetricValue* values)
{
    try {
        static_cast<Copy*>(user)->found.metrics.insert(metric);
    } catch (const std::bad_alloc&) {
        return OTF2_CALLBACK_ERROR;
    }
    return Event<OTF2_EvtWriter_Metric>::copy(location, time, position, user, attributes, metric, count, types, values);
}

OTF2_CallbackCode copy_buffer_flush(OTF2_LocationRef location, OTF2_TimeStamp time, std::uint64_t position, void* user,
                                    OTF2_AttributeList* attributes, OTF2_TimeStamp end)
{
    return Event<OTF2_EvtWriter_BufferFlush>::copy(location, time, position, user, attributes,
                                                   static_cast<Copy*>(user)->resolution(end));
}

OTF2_CallbackCode copy_io_delete_file(OTF2_LocationRef location, OTF2_TimeStamp time, std::uint64_t position,
                                      void* user, OTF2_AttributeList* attributes, OTF2_IoParadigmRef paradigm,
                                      OTF2_IoFileRef file)
{
    return Event<OTF2_EvtWriter_IoDeleteFile>::copy(location, time, position, user, attributes,
                                                    static_cast<Copy*>(user)->io_paradigms[paradigm], file);
}

OTF2_CallbackCode count_unknown(OTF2_LocationRef, OTF2_TimeStamp, std::uint64_t, void* user, OTF2_AttributeList*)
{
    ++static_cast<Copy*>(user)->found.unknown;
    return OTF2_CALLBACK_SUCCESS;
}

#define EVENT(Name) OTF2_EvtReaderCallbacks_Set##Name##Callback(set, Event<OTF2_EvtWriter_##Name>::copy);

EventCallbacks callbacks()
{
    EventCallbacks all{otf2::check(OTF2_EvtReaderCallbacks_New(), "read events")};
    OTF2_EvtReaderCallbacks* set = all.get();
#include "trace-tools/otf2/events.inc"
    OTF2_EvtReaderCallbacks_SetMetricCallback(set, copy_metric);
    OTF2_EvtReaderCallbacks_SetBufferFlushCallback(set, copy_buffer_flush);
    OTF2_EvtReaderCallbacks_SetIoDeleteFileCallback(set, copy_io_delete_file);
    OTF2_EvtReaderCallbacks_SetUnknownCallback(set, count_unknown);
    return all;
}

#undef EVENT

}  // namespace

CopiedEvents copy_events(OTF2_Reader* reader, OTF2_EvtReader* events, OTF2_EvtWriter* writer,
                         const IoParadigms& io_paradigms, const Resolution& resolution, std::uint64_t most_events,
                         const std::function<void(std::uint64_t)>& progress)
{
    static const EventCallbacks copying = callbacks();
    constexpr std::uint64_t at_once = 100'000;
    Copy copy{writer, io_paradigms, resolution, {}};
    otf2::check(OTF2_Reader_RegisterEvtCallbacks(reader, events, copying.get(), &copy), "read events");
    otf2::last_error();  // clears an earlier error
    for (std::uint64_t some = at_once; some == at_once;) {
        const OTF2_ErrorCode code = OTF2_Reader_ReadLocalEvents(reader, events, at_once, &some);
        otf2::check(copy.failure, "write events");
        otf2::check(code, "read events");
        otf2::check(otf2::last_error(), "write events");
        otf2::getting_on();
        progress(some);
        if (copy.found.events + copy.found.unknown > most_events)
            base::fail("more events than defined: cut off or damaged");
    }
    return std::move(copy.found);
}

}  // namespace merge
