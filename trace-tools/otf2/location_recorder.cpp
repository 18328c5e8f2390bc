// The path of an event: a look at the clock, OTF2's writer, and the time of the last event kept.
#include "trace-tools/otf2/handles.hpp"
#include "trace-tools/otf2/recorder.hpp"

#include <algorithm>

namespace otf2 {

namespace {

OTF2_TimeStamp stamp(std::int64_t time_ns)
{
    return static_cast<OTF2_TimeStamp>(time_ns);
}

}  // namespace

OTF2_AttributeList* LocationRecorder::filled(Attributes attributes)
{
    if (attributes.size() == 0) return nullptr;
    for (const AttributeValue& given : attributes) {
        OTF2_AttributeValue value{};
        if (given.attribute.type == Type::text)
            value.stringRef = static_cast<OTF2_StringRef>(given.value.uint64);
        else
            value.uint64 = given.value.uint64;  // as wide as the others of the union
        OTF2_AttributeList_AddAttribute(attributes_, given.attribute.id, static_cast<OTF2_Type>(given.attribute.type),
                                        value);
    }
    return attributes_;
}

// What could not be written ends the recording of this location; Recorder::finish() tells.
void LocationRecorder::wrote(int code, std::int64_t time_ns)
{
    if (code != OTF2_SUCCESS) {
        failure_ = code;
        writer_ = nullptr;
        return;
    }
    if (first_ns_ == INT64_MAX) first_ns_ = time_ns;
    last_ns_ = time_ns;
}

void LocationRecorder::write_enter(RegionRef region, std::int64_t time_ns, Attributes attributes)
{
    wrote(OTF2_EvtWriter_Enter(writer_, filled(attributes), stamp(time_ns), region.id), time_ns);
}

void LocationRecorder::write_leave(RegionRef region, std::int64_t time_ns, Attributes attributes)
{
    wrote(OTF2_EvtWriter_Leave(writer_, filled(attributes), stamp(time_ns), region.id), time_ns);
}

void LocationRecorder::write_metric(MetricRef metric, std::int64_t time_ns, AttributeValue value)
{
    const auto type = static_cast<OTF2_Type>(metric.type);
    OTF2_MetricValue written{};
    written.unsigned_int = value.value.uint64;  // as wide as the others of the union
    wrote(OTF2_EvtWriter_Metric(writer_, nullptr, stamp(time_ns), metric.id, 1, &type, &written), time_ns);
}

void LocationRecorder::collective_begin(std::int64_t time_ns)
{
    if (writer_ == nullptr) return;
    wrote(OTF2_EvtWriter_MpiCollectiveBegin(writer_, nullptr, stamp(time_ns)), time_ns);
}

void LocationRecorder::collective_end(std::int64_t time_ns, const CollectiveEnd& what)
{
    if (writer_ == nullptr) return;
    wrote(OTF2_EvtWriter_MpiCollectiveEnd(writer_, nullptr, stamp(time_ns),
                                          static_cast<OTF2_CollectiveOp>(what.operation), what.communicator.id,
                                          what.root, what.sent_bytes, what.received_bytes),
          time_ns);
}

void LocationRecorder::collective_request(std::int64_t time_ns, std::uint64_t request)
{
    if (writer_ == nullptr) return;
    wrote(OTF2_EvtWriter_NonBlockingCollectiveRequest(writer_, nullptr, stamp(time_ns), request), time_ns);
}

void LocationRecorder::collective_complete(std::int64_t time_ns, const CollectiveEnd& what, std::uint64_t request)
{
    if (writer_ == nullptr) return;
    wrote(OTF2_EvtWriter_NonBlockingCollectiveComplete(
              writer_, nullptr, stamp(time_ns), static_cast<OTF2_CollectiveOp>(what.operation), what.communicator.id,
              what.root, what.sent_bytes, what.received_bytes, request),
          time_ns);
}

void LocationRecorder::send(std::int64_t time_ns, const Message& message)
{
    if (writer_ == nullptr) return;
    wrote(OTF2_EvtWriter_MpiSend(writer_, nullptr, stamp(time_ns), message.peer, message.communicator.id, message.tag,
                                 message.bytes),
          time_ns);
}

void LocationRecorder::receive(std::int64_t time_ns, const Message& message)
{
    if (writer_ == nullptr) return;
    wrote(OTF2_EvtWriter_MpiRecv(writer_, nullptr, stamp(time_ns), message.peer, message.communicator.id, message.tag,
                                 message.bytes),
          time_ns);
}

void LocationRecorder::send_request(std::int64_t time_ns, const Message& message, std::uint64_t request)
{
    if (writer_ == nullptr) return;
    wrote(OTF2_EvtWriter_MpiIsend(writer_, nullptr, stamp(time_ns), message.peer, message.communicator.id, message.tag,
                                  message.bytes, request),
          time_ns);
}

void LocationRecorder::send_complete(std::int64_t time_ns, std::uint64_t request)
{
    if (writer_ == nullptr) return;
    wrote(OTF2_EvtWriter_MpiIsendComplete(writer_, nullptr, stamp(time_ns), request), time_ns);
}

void LocationRecorder::receive_request(std::int64_t time_ns, std::uint64_t request)
{
    if (writer_ == nullptr) return;
    wrote(OTF2_EvtWriter_MpiIrecvRequest(writer_, nullptr, stamp(time_ns), request), time_ns);
}

void LocationRecorder::receive_complete(std::int64_t time_ns, const Message& message, std::uint64_t request)
{
    if (writer_ == nullptr) return;
    wrote(OTF2_EvtWriter_MpiIrecv(writer_, nullptr, stamp(time_ns), message.peer, message.communicator.id, message.tag,
                                  message.bytes, request),
          time_ns);
}

}  // namespace otf2
