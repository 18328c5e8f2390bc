#include "trace-tools/otf2/reader.hpp"

#include "trace-tools/otf2/definition_reader.hpp"
#include "trace-tools/otf2/event_source.hpp"
#include "trace-tools/otf2/handles.hpp"

namespace otf2 {

namespace {

// Runs the work and says of which archive its failure speaks.
template <class Work>
auto reading(const std::filesystem::path& anchor, const Work& work)
{
    try {
        return work();
    } catch (const base::Error& error) {
        base::fail("cannot read trace ", anchor.string(), ": ", error.what());
    }
}

ReaderHandle open(const std::filesystem::path& anchor)
{
    keep_otf2_quiet();
    std::error_code code;
    if (!std::filesystem::exists(anchor, code)) base::fail("no such file");
    if (std::filesystem::is_directory(anchor, code)) base::fail("a directory; the archive's .otf2 file is wanted");
    OTF2_Reader* reader = OTF2_Reader_Open(anchor.c_str());
    if (reader == nullptr) base::fail("no OTF2 archive, or one that is cut off");
    ReaderHandle handle{reader};
    check(OTF2_Reader_SetSerialCollectiveCallbacks(reader), "read it alone");
    return handle;
}

std::optional<OTF2_AttributeValue> find(const OTF2_AttributeList* list, const Archive& archive, std::uint32_t attribute,
                                        OTF2_Type& type)
{
    if (list == nullptr || attribute >= archive.attributes.size()) return {};
    const OTF2_AttributeRef id = archive.attributes[attribute].id;
    OTF2_AttributeValue value{};
    if (!OTF2_AttributeList_TestAttributeByID(list, id) ||
        OTF2_AttributeList_GetAttributeByID(list, id, &type, &value) != OTF2_SUCCESS)
        return {};
    return value;
}

}  // namespace

std::size_t EventAttributes::size() const
{
    return list_ == nullptr ? 0 : OTF2_AttributeList_GetNumberOfElements(list_);
}

std::optional<std::uint64_t> EventAttributes::number(std::uint32_t attribute) const
{
    OTF2_Type type = OTF2_TYPE_NONE;
    const auto value = find(list_, source_.archive(), attribute, type);
    if (!value) return {};
    switch (type) {
        case OTF2_TYPE_UINT8:
            return value->uint8;
        case OTF2_TYPE_UINT16:
            return value->uint16;
        case OTF2_TYPE_UINT32:
            return value->uint32;
        case OTF2_TYPE_UINT64:
            return value->uint64;
        case OTF2_TYPE_INT8:
            return static_cast<std::uint64_t>(value->int8);
        case OTF2_TYPE_INT16:
            return static_cast<std::uint64_t>(value->int16);
        case OTF2_TYPE_INT32:
            return static_cast<std::uint64_t>(value->int32);
        case OTF2_TYPE_INT64:
            return static_cast<std::uint64_t>(value->int64);
        default:
            return {};
    }
}

std::optional<double> EventAttributes::real(std::uint32_t attribute) const
{
    OTF2_Type type = OTF2_TYPE_NONE;
    const auto value = find(list_, source_.archive(), attribute, type);
    if (!value) return {};
    switch (type) {
        case OTF2_TYPE_FLOAT:
            return value->float32;
        case OTF2_TYPE_DOUBLE:
            return value->float64;
        case OTF2_TYPE_INT8:
            return value->int8;
        case OTF2_TYPE_INT16:
            return value->int16;
        case OTF2_TYPE_INT32:
            return value->int32;
        case OTF2_TYPE_INT64:
            return static_cast<double>(value->int64);
        default:
            break;
    }
    const auto whole = number(attribute);
    return whole ? std::optional<double>{static_cast<double>(*whole)} : std::nullopt;
}

std::optional<std::string_view> EventAttributes::text(std::uint32_t attribute) const
{
    OTF2_Type type = OTF2_TYPE_NONE;
    const auto value = find(list_, source_.archive(), attribute, type);
    if (!value || type != OTF2_TYPE_STRING) return {};
    const ReferenceTable& references = source_.references();
    const std::uint32_t index = references.strings.at(value->stringRef);
    if (index == nowhere) return {};
    return references.texts[index];
}

Reader::Reader(std::filesystem::path anchor, ReadOptions options) : anchor_{std::move(anchor)}, options_{options}
{
    reading(anchor_, [&] {
        const ReaderHandle reader = open(anchor_);
        Definitions definitions = read_global_definitions(reader.get());
        archive_ = std::move(definitions.archive);
        references_ = std::make_shared<const ReferenceTable>(std::move(definitions.references));
        read_local_definitions(reader.get(), archive_, *references_, &archive_);
    });
}

namespace {

// OTF2 may read on for ever where an event file was cut off: far more events than are defined are none.
std::uint64_t most_events(std::uint64_t defined)
{
    return 2 * defined + 1'000'000;
}

void check_ended(std::uint64_t read, std::uint64_t defined)
{
    if (read >= most_events(defined))
        base::fail("events go on beyond the ", defined, " that are defined: cut off, or damaged");
}

}  // namespace

// One pass over the events: the archive opened anew, each location's numbering and clock offsets known to OTF2.
class Reader::Pass {
 public:
    Pass(const std::filesystem::path& anchor, const Archive& archive, const ReferenceTable& references,
         Visitor& visitor, ReadOptions options)
        : anchor_{anchor},
          archive_{archive},
          options_{options},
          source_{archive, references, visitor},
          reader_{open(anchor)}
    {
        read_local_definitions(reader_.get(), archive, references, nullptr);
        check(OTF2_Reader_OpenEvtFiles(reader_.get()), "open its events");
    }

    void in_order_of_time()
    {
        std::size_t found = 0;
        for (const Location& location : archive_.locations)
            if (location_reader(location) != nullptr) ++found;
        if (found == 0) return;
        OTF2_GlobalEvtReader* events = check(OTF2_Reader_GetGlobalEvtReader(reader_.get()), "read events");
        check(OTF2_Reader_RegisterGlobalEvtCallbacks(reader_.get(), events, callbacks_.global.get(), &source_),
              "read events");
        std::uint64_t read = 0;
        std::uint64_t defined = 0;
        for (const Location& location : archive_.locations) defined += location.events;
        const OTF2_ErrorCode code = OTF2_Reader_ReadGlobalEvents(reader_.get(), events, most_events(defined), &read);
        if (source_.thrown()) return;
        check(code, "read events");
        check_ended(read, defined);
        read_ += read;
        check(OTF2_Reader_CloseGlobalEvtReader(reader_.get(), events), "close events");
    }

    void location_by_location()
    {
        for (const Location& location : archive_.locations) {
            OTF2_EvtReader* events = location_reader(location);
            if (events == nullptr) continue;
            check(OTF2_Reader_RegisterEvtCallbacks(reader_.get(), events, callbacks_.local.get(), &source_),
                  "read events");
            std::uint64_t read = 0;
            const OTF2_ErrorCode code =
                OTF2_Reader_ReadLocalEvents(reader_.get(), events, most_events(location.events), &read);
            if (source_.thrown()) return;
            check(code, "read events of ", location.name);
            check_ended(read, location.events);
            read_ += read;
            check(OTF2_Reader_CloseEvtReader(reader_.get(), events), "close events of ", location.name);
        }
    }

    std::exception_ptr thrown() const { return source_.thrown(); }

    std::vector<std::string> problems() const
    {
        std::vector<std::string> problems;
        if (!missing_.empty()) problems.push_back("no events of " + missing_);
        std::uint64_t defined = 0;
        for (const Location& location : archive_.locations) defined += location.events;
        if (read_ == 0 && defined > 0) base::fail("there are definitions of ", defined, " events, but no events");
        if (read_ != defined) problems.push_back(base::join(read_, " events are there, ", defined, " are defined"));
        if (source_.left_out() > 0)
            problems.push_back(base::join(source_.left_out(), " events refer to a definition that is not there"));
        return problems;
    }

 private:
    // Null, and a note, for a location whose events are missing. OTF2 would find that out in the middle of reading, and
    // give up on all locations. Archives in one SION file have no file for each location.
    OTF2_EvtReader* location_reader(const Location& location)
    {
        const std::filesystem::path folder = anchor_.parent_path() / anchor_.stem();
        OTF2_FileSubstrate substrate = OTF2_SUBSTRATE_UNDEFINED;
        OTF2_Reader_GetFileSubstrate(reader_.get(), &substrate);
        const bool there = substrate != OTF2_SUBSTRATE_POSIX ||
                           std::filesystem::exists(folder / (std::to_string(location.id) + ".evt"));
        OTF2_EvtReader* events = there ? OTF2_Reader_GetEvtReader(reader_.get(), location.id) : nullptr;
        if (events == nullptr) {
            if (location.events > 0) missing_ += (missing_.empty() ? "" : ", ") + location.name;
            return nullptr;
        }
        if (options_.undo_clock_offsets) check(OTF2_EvtReader_ApplyClockOffsets(events, false), "undo clock offsets");
        return events;
    }

    const std::filesystem::path& anchor_;
    const Archive& archive_;
    ReadOptions options_;
    EventSource source_;
    EventCallbacks callbacks_;
    ReaderHandle reader_;
    std::uint64_t read_ = 0;
    std::string missing_;
};

void Reader::read(Visitor& visitor)
{
    pass(visitor, &Pass::in_order_of_time);
}

void Reader::read_by_location(Visitor& visitor)
{
    pass(visitor, &Pass::location_by_location);
}

void Reader::pass(Visitor& visitor, void (Pass::*how)())
{
    const std::exception_ptr thrown = reading(anchor_, [&] {
        Pass pass{anchor_, archive_, *references_, visitor, options_};
        (pass.*how)();
        if (!pass.thrown()) problems_ = pass.problems();
        return pass.thrown();
    });
    if (thrown) std::rethrow_exception(thrown);  // the visitor's own, as it was
}

}  // namespace otf2
