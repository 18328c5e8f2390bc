// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/otf2/read/spill.hpp"

#include "base/system/temporary_directory.hpp"
#include "trace-tools/otf2/read/references.hpp"
#include "trace-tools/otf2/read/spill_format.hpp"

#include <string_view>
#include <system_error>

#include <unistd.h>

namespace otf2 {

namespace {

constexpr std::size_t write_bytes = 256 << 10;

}  // namespace

Spill::Spill(const Archive& archive, const ReferenceTable& references, const std::filesystem::path& directory,
             WhenFull when_full)
    : archive_{archive}, references_{references}, when_full_{when_full}, file_{base::unnamed_file(directory)}
{
    unwritten_.resize(write_bytes + longest_event);
    end_ = unwritten_.data();
}

void Spill::begin(Kind kind, const At& at)
{
    if (at.location != location_) begin_section(at.location);
    if (end_ >= unwritten_.data() + write_bytes) write_out();
    *end_++ = static_cast<char>(kind);
    put(difference(at.tick, last_tick_));
    last_tick_ = at.tick;
}

void Spill::begin_section(std::uint32_t location)
{
    const std::uint64_t here = written_ + static_cast<std::uint64_t>(end_ - unwritten_.data());
    if (!sections_.empty()) sections_.back().end = here;
    sections_.push_back({.location = location, .begin = here});
    location_ = location;
    last_tick_ = 0;
}

void Spill::put(std::uint64_t number)
{
    char* end = end_;  // local copy, so that the member is not stored for each byte
    for (; number >= 0x80; number >>= 7U) *end++ = static_cast<char>(number | 0x80);
    *end++ = static_cast<char>(number);
    end_ = end;
}

bool Spill::is_whole()
{
    write_out();
    return !gave_up_;
}

void Spill::write_out()
{
    const std::string_view all{unwritten_.data(), static_cast<std::size_t>(end_ - unwritten_.data())};
    try {
        if (!gave_up_) write(all);
    } catch (const std::system_error&) {
        if (when_full_ == WhenFull::fails) throw;
        gave_up_ = true;
    }
    written_ += all.size();
    end_ = unwritten_.data();
}

void Spill::write(std::string_view bytes)
{
    while (!bytes.empty()) {
        const auto written = base::check_errno(::write(file_, bytes.data(), bytes.size()), "spill events");
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
}

void Spill::put(const CollectiveRecord& record)
{
    put(static_cast<std::uint64_t>(record.operation));
    put(record.communicator);
    put(record.root);
    put(record.sent_bytes);
    put(record.received_bytes);
    put(record.request + 1);  // wraps no_request, the largest number, to 0
}

void Spill::put(const MessageRecord& message)
{
    put(message.peer);
    put(message.communicator);
    put(message.tag);
    put(message.bytes);
    put(message.request + 1);
}

void Spill::put(const EventAttributes& attributes)
{
    put(attributes.size());
    for (std::uint32_t i = 0; i < attributes.size(); ++i) {
        OTF2_AttributeRef id = 0;
        OTF2_Type type = OTF2_TYPE_NONE;
        OTF2_AttributeValue value{};
        check(OTF2_AttributeList_GetAttributeByIndex(attributes.list_, i, &id, &type, &value), "read an attribute");
        if (end_ >= unwritten_.data() + write_bytes) write_out();
        put(id);
        put(type);
        put(value.uint64);  // has the size of the other members of the union
    }
}

void Spill::enter(const At& at, std::uint32_t region, const EventAttributes& attributes)
{
    const bool bare = attributes.size() == 0;
    begin(bare ? Kind::enter : Kind::enter_with_attributes, at);
    put(region);
    if (!bare) put(attributes);
}

void Spill::leave(const At& at, std::uint32_t region, const EventAttributes& attributes)
{
    const bool bare = attributes.size() == 0;
    begin(bare ? Kind::leave : Kind::leave_with_attributes, at);
    put(region);
    if (!bare) put(attributes);
}

void Spill::metric(const At& at, std::uint32_t metric, const MetricValue& value)
{
    begin(Kind::metric, at);
    put(metric);
    put(static_cast<std::uint64_t>(value.type));
    put(value.member);
    put(value.uint64);
}

void Spill::collective_begin(const At& at)
{
    begin(Kind::collective_begin, at);
}

void Spill::collective_end(const At& at, const CollectiveRecord& record)
{
    begin(Kind::collective_end, at);
    put(record);
}

void Spill::collective_request(const At& at, std::uint64_t request)
{
    begin(Kind::collective_request, at);
    put(request);
}

void Spill::collective_complete(const At& at, const CollectiveRecord& record)
{
    begin(Kind::collective_complete, at);
    put(record);
}

void Spill::send(const At& at, const MessageRecord& message)
{
    begin(Kind::send, at);
    put(message);
}

void Spill::send_complete(const At& at, std::uint64_t request)
{
    begin(Kind::send_complete, at);
    put(request);
}

void Spill::receive_request(const At& at, std::uint64_t request)
{
    begin(Kind::receive_request, at);
    put(request);
}

void Spill::receive(const At& at, const MessageRecord& message)
{
    begin(Kind::receive, at);
    put(message);
}

void Spill::buffer_flush(const At& at, std::int64_t end_ns)
{
    begin(Kind::buffer_flush, at);
    put(difference(end_ns, at.time_ns));
}

void Spill::transfer_begin(const At& at)
{
    begin(Kind::transfer_begin, at);
}

void Spill::transfer_end(const At& at)
{
    begin(Kind::transfer_end, at);
}

void Spill::other(const At& at)
{
    begin(Kind::other, at);
}

}  // namespace otf2
