// SPDX-License-Identifier: Apache-2.0
// Records a single event: reads the clock, calls OTF2's writer, and keeps the time of the last event.
#include "trace-tools/otf2/write/recorder.hpp"

#include <algorithm>
#include <utility>

namespace otf2 {

namespace {

OTF2_TimeStamp stamp(std::int64_t time_ns)
{
    return static_cast<OTF2_TimeStamp>(time_ns);
}

}  // namespace

OTF2_AttributeList* LocationRecorder::filled(AttributeSpan attributes)
{
    if (attributes.size() == 0) return nullptr;
    for (const AttributeValue& given : attributes) {
        OTF2_AttributeValue value{};
        if (given.attribute.type == Type::text)
            value.stringRef = static_cast<OTF2_StringRef>(given.value.uint64);
        else
            value.uint64 = given.value.uint64;  // has the size of the other members of the union
        OTF2_AttributeList_AddAttribute(attributes_, given.attribute.id, static_cast<OTF2_Type>(given.attribute.type),
                                        value);
    }
    return attributes_;
}

// Marks the location as being written to. The closing thread sets closed_ and issues a memory barrier in all threads
// (Recorder::State::stop_events()), so either it sees the mark, or this thread sees closed_. Costs two plain stores.
class LocationRecorder::Busy {
 public:
    explicit Busy(LocationRecorder& location) : location_{location}
    {
        location_.busy_.store(true, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    ~Busy() { location_.busy_.store(false, std::memory_order_release); }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

 private:
    LocationRecorder& location_;
};

// A failed write ends the recording at this location; Recorder::finish() reports the error.
template <class Write>
void LocationRecorder::put(std::int64_t time_ns, const Write& write)
{
    if (writer_ == nullptr) return;
    const OTF2_ErrorCode code = write(stamp(time_ns));
    if (code != OTF2_SUCCESS) {
        failure_ = code;
        writer_ = nullptr;
        return;
    }
    if (first_ns_ == INT64_MAX) first_ns_ = time_ns;
    last_ns_ = time_ns;
}

template <class Put>
void LocationRecorder::unless_closed(std::int64_t time_ns, const Put& put_it)
{
    const Busy busy{*this};
    if (closed_.load(std::memory_order_relaxed)) return;
    if (time_ns >= flush_end_ns_) write_flush();
    put_it();
}

template <class Write>
void LocationRecorder::write(std::int64_t time_ns, const Write& write)
{
    unless_closed(time_ns, [&] { put(time_ns, write); });
}

void LocationRecorder::put_enter(RegionRef region, std::int64_t time_ns, AttributeSpan attributes)
{
    put(time_ns, [&](OTF2_TimeStamp at) { return OTF2_EvtWriter_Enter(writer_, filled(attributes), at, region.id); });
    if (depth_ < open_.size()) open_[depth_] = region.id;
    ++depth_;
}

void LocationRecorder::put_leave(RegionRef region, std::int64_t time_ns, AttributeSpan attributes)
{
    put(time_ns, [&](OTF2_TimeStamp at) { return OTF2_EvtWriter_Leave(writer_, filled(attributes), at, region.id); });
    if (depth_ > 0) --depth_;
}

// Writes the region of a flush just before the first later event. Events that happened before the flush may be written
// after it.
void LocationRecorder::write_flush()
{
    const std::int64_t end_ns = std::exchange(flush_end_ns_, INT64_MAX);
    if (flush_begin_ns_ < last_ns_) return;  // the caller gave these events times of another clock
    const RegionRef region =
        recorder_->region("TRACE BUFFER FLUSH", RegionRole::artificial, Paradigm::measurement_system);
    put_enter(region, flush_begin_ns_, {});
    put_leave(region, end_ns, {});
}

// If regions are nested more deeply than open_ can hold, all stay open; readers close them at the last event.
void LocationRecorder::leave_open_regions(std::int64_t time_ns)
{
    if (depth_ > open_.size()) return;
    while (depth_ > 0) put_leave({open_[depth_ - 1]}, std::max(time_ns, last_ns_), {});
}

void LocationRecorder::write_enter(RegionRef region, std::int64_t time_ns, AttributeSpan attributes)
{
    unless_closed(time_ns, [&] { put_enter(region, time_ns, attributes); });
}

void LocationRecorder::write_leave(RegionRef region, std::int64_t time_ns, AttributeSpan attributes)
{
    unless_closed(time_ns, [&] { put_leave(region, time_ns, attributes); });
}

void LocationRecorder::write_metric(MetricRef metric, std::int64_t time_ns, AttributeValue value)
{
    const auto type = static_cast<OTF2_Type>(metric.type);
    OTF2_MetricValue written{};
    written.unsigned_int = value.value.uint64;  // has the size of the other members of the union
    write(time_ns, [&](OTF2_TimeStamp at) {
        return OTF2_EvtWriter_Metric(writer_, nullptr, at, metric.id, 1, &type, &written);
    });
}

void LocationRecorder::write_metrics(const MetricClassRef& metrics, std::span<const MetricNumber> values,
                                     std::int64_t time_ns)
{
    std::array<OTF2_Type, UINT8_MAX> types{};
    std::array<OTF2_MetricValue, UINT8_MAX> written{};
    const std::size_t count = std::min({values.size(), metrics.types.size(), types.size()});
    for (std::size_t i = 0; i < count; ++i) {
        const AttributeRef member{0, metrics.types[i]};
        const auto made = std::visit([&](auto number) { return AttributeValue{member, number}; }, values[i]);
        types[i] = static_cast<OTF2_Type>(member.type);
        written[i].unsigned_int = made.value.uint64;  // has the size of the other members of the union
    }
    write(time_ns, [&](OTF2_TimeStamp at) {
        return OTF2_EvtWriter_Metric(writer_, nullptr, at, metrics.id, static_cast<std::uint8_t>(count), types.data(),
                                     written.data());
    });
}

void LocationRecorder::collective_begin(std::int64_t time_ns)
{
    write(time_ns, [&](OTF2_TimeStamp at) { return OTF2_EvtWriter_MpiCollectiveBegin(writer_, nullptr, at); });
}

void LocationRecorder::collective_end(std::int64_t time_ns, const CollectiveEnd& what)
{
    write(time_ns, [&](OTF2_TimeStamp at) {
        return OTF2_EvtWriter_MpiCollectiveEnd(writer_, nullptr, at, static_cast<OTF2_CollectiveOp>(what.operation),
                                               what.communicator.id, what.root, what.sent_bytes, what.received_bytes);
    });
}

void LocationRecorder::collective_request(std::int64_t time_ns, std::uint64_t request)
{
    write(time_ns, [&](OTF2_TimeStamp at) {
        return OTF2_EvtWriter_NonBlockingCollectiveRequest(writer_, nullptr, at, request);
    });
}

void LocationRecorder::collective_complete(std::int64_t time_ns, const CollectiveEnd& what, std::uint64_t request)
{
    write(time_ns, [&](OTF2_TimeStamp at) {
        return OTF2_EvtWriter_NonBlockingCollectiveComplete(
            writer_, nullptr, at, static_cast<OTF2_CollectiveOp>(what.operation), what.communicator.id, what.root,
            what.sent_bytes, what.received_bytes, request);
    });
}

void LocationRecorder::send(std::int64_t time_ns, const Message& message)
{
    write(time_ns, [&](OTF2_TimeStamp at) {
        return OTF2_EvtWriter_MpiSend(writer_, nullptr, at, message.peer, message.communicator.id, message.tag,
                                      message.bytes);
    });
}

void LocationRecorder::receive(std::int64_t time_ns, const Message& message)
{
    write(time_ns, [&](OTF2_TimeStamp at) {
        return OTF2_EvtWriter_MpiRecv(writer_, nullptr, at, message.peer, message.communicator.id, message.tag,
                                      message.bytes);
    });
}

void LocationRecorder::send_request(std::int64_t time_ns, const Message& message, std::uint64_t request)
{
    write(time_ns, [&](OTF2_TimeStamp at) {
        return OTF2_EvtWriter_MpiIsend(writer_, nullptr, at, message.peer, message.communicator.id, message.tag,
                                       message.bytes, request);
    });
}

void LocationRecorder::send_complete(std::int64_t time_ns, std::uint64_t request)
{
    write(time_ns, [&](OTF2_TimeStamp at) { return OTF2_EvtWriter_MpiIsendComplete(writer_, nullptr, at, request); });
}

void LocationRecorder::receive_request(std::int64_t time_ns, std::uint64_t request)
{
    write(time_ns, [&](OTF2_TimeStamp at) { return OTF2_EvtWriter_MpiIrecvRequest(writer_, nullptr, at, request); });
}

void LocationRecorder::receive_complete(std::int64_t time_ns, const Message& message, std::uint64_t request)
{
    write(time_ns, [&](OTF2_TimeStamp at) {
        return OTF2_EvtWriter_MpiIrecv(writer_, nullptr, at, message.peer, message.communicator.id, message.tag,
                                       message.bytes, request);
    });
}

void LocationRecorder::request_cancelled(std::int64_t time_ns, std::uint64_t request)
{
    write(time_ns,
          [&](OTF2_TimeStamp at) { return OTF2_EvtWriter_MpiRequestCancelled(writer_, nullptr, at, request); });
}

}  // namespace otf2
