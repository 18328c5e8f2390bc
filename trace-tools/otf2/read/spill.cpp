#include "trace-tools/otf2/read/spill.hpp"

#include "trace-tools/otf2/read/event_source.hpp"
#include "trace-tools/otf2/read/spill_format.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

namespace otf2 {

namespace {

constexpr std::size_t write_bytes = 256 << 10;

}  // namespace

Spill::Spill(const Archive& archive, const ReferenceTable& references, const std::filesystem::path& directory)
    : archive_{archive}, references_{references}
{
    std::string name = directory / "events-XXXXXX";
    file_ = base::check_errno(::mkostemp(name.data(), O_CLOEXEC), "create a file in ", directory.string());
    ::unlink(name.c_str());
    unwritten_.reserve(write_bytes + longest_event);
}

Spill::~Spill()
{
    ::close(file_);
}

void Spill::begin(Kind kind, const At& at)
{
    if (sections_.empty() || sections_.back().location != at.location) {
        const std::uint64_t here = written_ + unwritten_.size();
        if (!sections_.empty()) sections_.back().end = here;
        sections_.push_back({.location = at.location, .begin = here});
        last_ns_ = 0;
    }
    if (unwritten_.size() >= write_bytes) write_out();
    unwritten_ += static_cast<char>(kind);
    put(difference(at.time_ns, last_ns_));
    last_ns_ = at.time_ns;
}

void Spill::put(std::uint64_t number)
{
    for (; number >= 0x80; number >>= 7U) unwritten_ += static_cast<char>(number | 0x80);
    unwritten_ += static_cast<char>(number);
}

void Spill::write_out()
{
    for (std::string_view rest = unwritten_; !rest.empty();) {
        const auto bytes = base::check_errno(::write(file_, rest.data(), rest.size()), "put events aside");
        rest.remove_prefix(static_cast<std::size_t>(bytes));
    }
    written_ += unwritten_.size();
    unwritten_.clear();
}

void Spill::put(const CollectiveRecord& record)
{
    put(static_cast<std::uint64_t>(record.operation));
    put(record.communicator);
    put(record.root);
    put(record.sent_bytes);
    put(record.received_bytes);
    put(record.request + 1);  // none is the largest
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
        put(id);
        put(type);
        put(value.uint64);  // as wide as the others of the union
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

void Spill::other(const At& at)
{
    begin(Kind::other, at);
}

}  // namespace otf2
