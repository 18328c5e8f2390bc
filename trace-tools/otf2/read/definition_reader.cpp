#include "trace-tools/otf2/read/definition_reader.hpp"

#include "trace-tools/otf2/handles.hpp"
#include "trace-tools/otf2/read/confined.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

namespace otf2 {

namespace {

using GlobalDefCallbacks = Handle<OTF2_GlobalDefReaderCallbacks, OTF2_GlobalDefReaderCallbacks_Delete>;
using DefCallbacks = Handle<OTF2_DefReaderCallbacks, OTF2_DefReaderCallbacks_Delete>;

// Definitions as they stand in the file; what they refer to may come later.
struct RawProperty {
    std::uint32_t of;
    OTF2_StringRef name;
    OTF2_Type type;
    OTF2_AttributeValue value;
};
struct RawNode {
    OTF2_StringRef name, class_name;
    OTF2_SystemTreeNodeRef parent;
};
struct RawProcess {
    OTF2_StringRef name;
    OTF2_LocationGroupType type;
    OTF2_SystemTreeNodeRef node;
};
struct RawLocation {
    OTF2_LocationRef self;
    OTF2_StringRef name;
    OTF2_LocationType type;
    std::uint64_t events;
    OTF2_LocationGroupRef process;
};
struct RawRegion {
    OTF2_StringRef name, file;
    OTF2_RegionRole role;
    OTF2_Paradigm paradigm;
};
struct RawAttribute {
    OTF2_AttributeRef self;
    OTF2_StringRef name, description;
    OTF2_Type type;
};
struct RawMetric {
    OTF2_StringRef name, description, unit;
    OTF2_MetricMode mode;
    OTF2_Type type;
    OTF2_Base base;
    std::int64_t exponent;
};
struct RawMetricClass {
    OTF2_MetricRef self;
    std::vector<OTF2_MetricMemberRef> members;
};
struct RawMetricInstance {
    OTF2_MetricRef self, of;
};
struct RawGroup {
    OTF2_GroupType type;
    OTF2_Paradigm paradigm;
    OTF2_GroupFlag flags;
    std::vector<std::uint64_t> members;
};
struct RawCommunicator {
    OTF2_StringRef name;
    OTF2_GroupRef group;
};

struct Raw {
    bool has_clock = false;
    std::uint64_t ticks_per_s = 0, first_tick = 0, length_ticks = 0, realtime = OTF2_UNDEFINED_TIMESTAMP;
    std::vector<RawNode> nodes;
    std::vector<RawProcess> processes;
    std::vector<RawLocation> locations;
    std::vector<RawRegion> regions;
    std::vector<RawAttribute> attributes;
    std::vector<RawMetric> metrics;
    std::vector<RawMetricClass> metric_classes;
    std::vector<RawMetricInstance> metric_instances;
    std::vector<RawGroup> groups;
    std::vector<RawCommunicator> communicators;
    std::vector<RawProperty> node_properties, process_properties;
    IndexTable node_table, process_table, metric_table, group_table;
    ReferenceTable references;
    std::size_t repeated = 0;

    template <class Row>
    void add(IndexTable& table, std::uint64_t self, std::vector<Row>& rows, Row row)
    {
        if (table.add(self, static_cast<std::uint32_t>(rows.size())))
            rows.push_back(std::move(row));
        else
            ++repeated;
    }
};

// No exception may pass through OTF2's C code; the only one to be expected is the lack of memory.
template <class Work>
OTF2_CallbackCode safely(void* user, const Work& work)
{
    try {
        work(*static_cast<Raw*>(user));
        return OTF2_CALLBACK_SUCCESS;
    } catch (...) {
        return OTF2_CALLBACK_ERROR;
    }
}

OTF2_CallbackCode clock(void* user, std::uint64_t resolution, std::uint64_t offset, std::uint64_t length,
                        std::uint64_t realtime)
{
    return safely(user, [&](Raw& raw) {
        raw.has_clock = true;
        raw.ticks_per_s = resolution;
        raw.first_tick = offset;
        raw.length_ticks = length;
        raw.realtime = realtime;
    });
}

OTF2_CallbackCode string(void* user, OTF2_StringRef self, const char* text)
{
    return safely(user, [&](Raw& raw) {
        raw.add<std::string>(raw.references.strings, self, raw.references.texts, text != nullptr ? text : "");
    });
}

OTF2_CallbackCode node(void* user, OTF2_SystemTreeNodeRef self, OTF2_StringRef name, OTF2_StringRef class_name,
                       OTF2_SystemTreeNodeRef parent)
{
    return safely(user, [&](Raw& raw) { raw.add(raw.node_table, self, raw.nodes, {name, class_name, parent}); });
}

OTF2_CallbackCode node_property(void* user, OTF2_SystemTreeNodeRef of, OTF2_StringRef name, OTF2_Type type,
                                OTF2_AttributeValue value)
{
    return safely(user, [&](Raw& raw) { raw.node_properties.push_back({of, name, type, value}); });
}

OTF2_CallbackCode process(void* user, OTF2_LocationGroupRef self, OTF2_StringRef name, OTF2_LocationGroupType type,
                          OTF2_SystemTreeNodeRef node_of, OTF2_LocationGroupRef)
{
    return safely(user, [&](Raw& raw) { raw.add(raw.process_table, self, raw.processes, {name, type, node_of}); });
}

OTF2_CallbackCode process_property(void* user, OTF2_LocationGroupRef of, OTF2_StringRef name, OTF2_Type type,
                                   OTF2_AttributeValue value)
{
    return safely(user, [&](Raw& raw) { raw.process_properties.push_back({of, name, type, value}); });
}

OTF2_CallbackCode location(void* user, OTF2_LocationRef self, OTF2_StringRef name, OTF2_LocationType type,
                           std::uint64_t events, OTF2_LocationGroupRef process_of)
{
    return safely(user, [&](Raw& raw) {
        raw.add(raw.references.locations, self, raw.locations, {self, name, type, events, process_of});
    });
}

OTF2_CallbackCode region(void* user, OTF2_RegionRef self, OTF2_StringRef name, OTF2_StringRef, OTF2_StringRef,
                         OTF2_RegionRole role, OTF2_Paradigm paradigm, OTF2_RegionFlag, OTF2_StringRef file,
                         std::uint32_t, std::uint32_t)
{
    return safely(user, [&](Raw& raw) {
        raw.add(raw.references.regions, self, raw.regions, {name, file, role, paradigm});
    });
}

OTF2_CallbackCode attribute(void* user, OTF2_AttributeRef self, OTF2_StringRef name, OTF2_StringRef description,
                            OTF2_Type type)
{
    return safely(user, [&](Raw& raw) {
        raw.add(raw.references.attributes, self, raw.attributes, {self, name, description, type});
    });
}

OTF2_CallbackCode metric(void* user, OTF2_MetricMemberRef self, OTF2_StringRef name, OTF2_StringRef description,
                         OTF2_MetricType, OTF2_MetricMode mode, OTF2_Type type, OTF2_Base base, std::int64_t exponent,
                         OTF2_StringRef unit)
{
    return safely(user, [&](Raw& raw) {
        raw.add(raw.metric_table, self, raw.metrics, {name, description, unit, mode, type, base, exponent});
    });
}

OTF2_CallbackCode metric_class(void* user, OTF2_MetricRef self, std::uint8_t count, const OTF2_MetricMemberRef* members,
                               OTF2_MetricOccurrence, OTF2_RecorderKind)
{
    return safely(user, [&](Raw& raw) { raw.metric_classes.push_back({self, {members, members + count}}); });
}

OTF2_CallbackCode metric_instance(void* user, OTF2_MetricRef self, OTF2_MetricRef of, OTF2_LocationRef,
                                  OTF2_MetricScope, std::uint64_t)
{
    return safely(user, [&](Raw& raw) { raw.metric_instances.push_back({self, of}); });
}

OTF2_CallbackCode group(void* user, OTF2_GroupRef self, OTF2_StringRef, OTF2_GroupType type, OTF2_Paradigm paradigm,
                        OTF2_GroupFlag flags, std::uint32_t count, const std::uint64_t* members)
{
    return safely(user, [&](Raw& raw) {
        raw.add(raw.group_table, self, raw.groups, {type, paradigm, flags, {members, members + count}});
    });
}

OTF2_CallbackCode communicator(void* user, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef of, OTF2_CommRef,
                               OTF2_CommFlag)
{
    return safely(user, [&](Raw& raw) { raw.add(raw.references.communicators, self, raw.communicators, {name, of}); });
}

GlobalDefCallbacks global_callbacks()
{
    GlobalDefCallbacks callbacks{check(OTF2_GlobalDefReaderCallbacks_New(), "read definitions")};
    OTF2_GlobalDefReaderCallbacks* set = callbacks.get();
    OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(set, clock);
    OTF2_GlobalDefReaderCallbacks_SetStringCallback(set, string);
    OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(set, node);
    OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodePropertyCallback(set, node_property);
    OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(set, process);
    OTF2_GlobalDefReaderCallbacks_SetLocationGroupPropertyCallback(set, process_property);
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(set, location);
    OTF2_GlobalDefReaderCallbacks_SetRegionCallback(set, region);
    OTF2_GlobalDefReaderCallbacks_SetAttributeCallback(set, attribute);
    OTF2_GlobalDefReaderCallbacks_SetMetricMemberCallback(set, metric);
    OTF2_GlobalDefReaderCallbacks_SetMetricClassCallback(set, metric_class);
    OTF2_GlobalDefReaderCallbacks_SetMetricInstanceCallback(set, metric_instance);
    OTF2_GlobalDefReaderCallbacks_SetGroupCallback(set, group);
    OTF2_GlobalDefReaderCallbacks_SetCommCallback(set, communicator);
    return callbacks;
}

Type widened(OTF2_Type type)
{
    switch (type) {
        case OTF2_TYPE_INT8:
        case OTF2_TYPE_INT16:
        case OTF2_TYPE_INT32:
        case OTF2_TYPE_INT64:
            return Type::int64;
        case OTF2_TYPE_FLOAT:
        case OTF2_TYPE_DOUBLE:
            return Type::real;
        case OTF2_TYPE_STRING:
            return Type::text;
        default:
            return Type::uint64;
    }
}

// Puts names in place of references.
class Resolver {
 public:
    explicit Resolver(Raw& raw) : raw_{raw} {}

    Definitions resolve()
    {
        clock();
        tree();
        plain();
        metrics();
        communicators();
        if (raw_.repeated > 0) problem(raw_.repeated, "definitions repeat the number of an earlier one");
        if (dangling_ > 0) problem(dangling_, "definitions refer to one that is not there");
        for (const auto& [word, count] : unknown_words_)
            archive_.oddities.push_back(base::join(count, " definitions with ", word, ", which is not known here"));
        return {std::move(archive_), std::move(raw_.references)};
    }

 private:
    void problem(std::size_t count, const char* what) { archive_.problems.push_back(base::join(count, " ", what)); }

    std::string text(OTF2_StringRef string)
    {
        if (string == OTF2_UNDEFINED_STRING) return "";
        const std::uint32_t index = raw_.references.strings.at(string);
        if (index != nowhere) return raw_.references.texts[index];
        ++dangling_;
        return base::join("(undefined string ", string, ")");
    }

    // The number stays what it is.
    template <class Word>
    Word word(const char* kind, std::uint8_t number)
    {
        const Word word{number};
        if (!is_known(word)) ++unknown_words_[base::join(kind, " ", int{number})];
        return word;
    }

    std::uint32_t reference(const IndexTable& table, std::uint64_t number, std::uint64_t undefined)
    {
        const std::uint32_t index = table.at(number);
        if (index == nowhere && number != undefined) ++dangling_;
        return index;
    }

    void clock()
    {
        Clock& clock = archive_.clock;
        ReferenceTable& references = raw_.references;
        clock.stated = raw_.has_clock && raw_.ticks_per_s > 0;
        if (!clock.stated) {
            archive_.oddities.emplace_back("no clock properties: a tick of the clock is taken for a nanosecond");
            return;
        }
        clock.ticks_per_s = references.ticks_per_s = raw_.ticks_per_s;
        references.first_tick = raw_.first_tick;
        const auto whole_s = raw_.first_tick / raw_.ticks_per_s;
        const auto rest = raw_.first_tick % raw_.ticks_per_s;
        references.first_ns = base::saturated_sum(static_cast<std::int64_t>(whole_s * 1'000'000'000),
                                                  references.duration_ns(static_cast<std::int64_t>(rest)));
        clock.begin_ns = references.first_ns;
        clock.length_ns = references.duration_ns(static_cast<std::int64_t>(raw_.length_ticks));
        if (raw_.realtime != OTF2_UNDEFINED_TIMESTAMP) clock.realtime_ns = static_cast<std::int64_t>(raw_.realtime);
    }

    void tree()
    {
        if (raw_.nodes.empty()) archive_.oddities.emplace_back("no system tree: which node is which is not reported");
        for (const RawNode& raw : raw_.nodes)
            archive_.nodes.push_back({.name = text(raw.name),
                                      .class_name = text(raw.class_name),
                                      .parent = reference(raw_.node_table, raw.parent, OTF2_UNDEFINED_SYSTEM_TREE_NODE),
                                      .properties = {}});
        for (const RawProcess& raw : raw_.processes)
            archive_.processes.push_back({.name = text(raw.name),
                                          .accelerator = raw.type == OTF2_LOCATION_GROUP_TYPE_ACCELERATOR,
                                          .node = reference(raw_.node_table, raw.node, OTF2_UNDEFINED_SYSTEM_TREE_NODE),
                                          .properties = {}});
        for (const RawLocation& raw : raw_.locations)
            archive_.locations.push_back(
                {.id = raw.self,
                 .name = text(raw.name),
                 .kind = word<LocationKind>("location kind", raw.type),
                 .process = reference(raw_.process_table, raw.process, OTF2_UNDEFINED_LOCATION_GROUP),
                 .events = raw.events,
                 .clock_offsets = {}});
        properties(raw_.node_properties, raw_.node_table, archive_.nodes);
        properties(raw_.process_properties, raw_.process_table, archive_.processes);
    }

    template <class Owner>
    void properties(const std::vector<RawProperty>& rows, const IndexTable& table, std::vector<Owner>& owners)
    {
        for (const RawProperty& raw : rows) {
            const std::uint32_t owner = reference(table, raw.of, UINT64_MAX);
            if (owner != nowhere) owners[owner].properties[text(raw.name)] = value_text(raw.type, raw.value);
        }
    }

    std::string value_text(OTF2_Type type, const OTF2_AttributeValue& value)
    {
        switch (type) {
            case OTF2_TYPE_STRING:
                return text(value.stringRef);
            case OTF2_TYPE_UINT8:
                return std::to_string(value.uint8);
            case OTF2_TYPE_UINT16:
                return std::to_string(value.uint16);
            case OTF2_TYPE_UINT32:
                return std::to_string(value.uint32);
            case OTF2_TYPE_INT8:
                return std::to_string(value.int8);
            case OTF2_TYPE_INT16:
                return std::to_string(value.int16);
            case OTF2_TYPE_INT32:
                return std::to_string(value.int32);
            case OTF2_TYPE_INT64:
                return std::to_string(value.int64);
            case OTF2_TYPE_FLOAT:
                return base::join(value.float32);
            case OTF2_TYPE_DOUBLE:
                return base::join(value.float64);
            default:
                return std::to_string(value.uint64);
        }
    }

    void plain()
    {
        for (const RawRegion& raw : raw_.regions)
            archive_.regions.push_back({.name = text(raw.name),
                                        .role = word<RegionRole>("region role", raw.role),
                                        .paradigm = word<Paradigm>("paradigm", raw.paradigm),
                                        .file = text(raw.file)});
        for (const RawAttribute& raw : raw_.attributes)
            archive_.attributes.push_back({.id = raw.self,
                                           .name = text(raw.name),
                                           .description = text(raw.description),
                                           .type = widened(raw.type)});
    }

    void metrics()
    {
        for (const RawMetric& raw : raw_.metrics)
            archive_.metrics.push_back(
                {.name = text(raw.name),
                 .unit = text(raw.unit),
                 .description = text(raw.description),
                 .type = widened(raw.type),
                 .mode = static_cast<MetricMode>(raw.mode),
                 .scale = std::pow(raw.base == OTF2_BASE_BINARY ? 2.0 : 10.0, static_cast<double>(raw.exponent))});
        ReferenceTable& references = raw_.references;
        for (const RawMetricClass& raw : raw_.metric_classes) {
            std::vector<std::uint32_t> members;
            for (const OTF2_MetricMemberRef member : raw.members)
                members.push_back(reference(raw_.metric_table, member, UINT64_MAX));
            raw_.add(references.metric_classes, raw.self, references.class_members, std::move(members));
        }
        for (const RawMetricInstance& raw : raw_.metric_instances) {
            const std::uint32_t of = reference(references.metric_classes, raw.of, UINT64_MAX);
            if (of != nowhere && !references.metric_classes.add(raw.self, of)) ++raw_.repeated;
        }
    }

    // A communicator's group lists positions in its paradigm's list of locations, or locations themselves.
    void communicators()
    {
        lists_of_locations();
        for (const RawCommunicator& raw : raw_.communicators) {
            Communicator communicator{
                .name = text(raw.name), .paradigm = Paradigm::unknown, .members = {}, .self = false};
            const std::uint32_t of = reference(raw_.group_table, raw.group, OTF2_UNDEFINED_GROUP);
            if (of != nowhere) {
                const RawGroup& group = raw_.groups[of];
                communicator.paradigm = word<Paradigm>("paradigm", group.paradigm);
                communicator.self = group.type == OTF2_GROUP_TYPE_COMM_SELF;
                const std::vector<std::uint64_t>* all = locations_of(group);
                for (const std::uint64_t member : group.members) {
                    const bool known = all == nullptr || member < all->size();
                    const std::uint64_t id = all == nullptr ? member : known ? (*all)[member] : UINT64_MAX;
                    communicator.members.push_back(reference(raw_.references.locations, id, UINT64_MAX - 1));
                }
            }
            archive_.communicators.push_back(std::move(communicator));
        }
    }

    const std::vector<std::uint64_t>* locations_of(const RawGroup& group) const
    {
        if ((group.flags & OTF2_GROUP_FLAG_GLOBAL_MEMBERS) != 0 || group.type == OTF2_GROUP_TYPE_LOCATIONS)
            return nullptr;
        const auto found = lists_of_locations_.find(group.paradigm);
        return found == lists_of_locations_.end() ? nullptr : found->second;
    }

    void lists_of_locations()
    {
        for (const RawGroup& group : raw_.groups)
            if (group.type == OTF2_GROUP_TYPE_COMM_LOCATIONS &&
                !lists_of_locations_.try_emplace(group.paradigm, &group.members).second)
                archive_.oddities.push_back("a second list of the locations of " +
                                            otf2::text(static_cast<Paradigm>(group.paradigm)) +
                                            "; the first one is used");
    }

    Raw& raw_;
    Archive archive_;
    std::map<OTF2_Paradigm, const std::vector<std::uint64_t>*> lists_of_locations_;
    std::map<std::string, std::size_t> unknown_words_;
    std::size_t dangling_ = 0;
};

// OTF2 hands out strings that are ours to free.
std::string owned(char* text)
{
    const std::string copy = text != nullptr ? text : "";
    std::free(text);
    return copy;
}

void read_anchor(OTF2_Reader* reader, Archive& archive)
{
    char* text = nullptr;
    if (OTF2_Reader_GetCreator(reader, &text) == OTF2_SUCCESS) archive.writer = owned(text);
    if (OTF2_Reader_GetMachineName(reader, &text) == OTF2_SUCCESS) archive.machine = owned(text);
    if (OTF2_Reader_GetDescription(reader, &text) == OTF2_SUCCESS) archive.description = owned(text);
    std::uint8_t major = 0;
    std::uint8_t minor = 0;
    std::uint8_t bugfix = 0;
    if (OTF2_Reader_GetVersion(reader, &major, &minor, &bugfix) == OTF2_SUCCESS)
        archive.otf2_version = base::join(int{major}, ".", int{minor}, ".", int{bugfix});
    std::uint32_t count = 0;
    char** names = nullptr;
    if (OTF2_Reader_GetPropertyNames(reader, &count, &names) != OTF2_SUCCESS) return;
    for (std::uint32_t i = 0; i < count; ++i)
        if (OTF2_Reader_GetProperty(reader, names[i], &text) == OTF2_SUCCESS)
            archive.properties[names[i]] = owned(text);
    std::free(names);  // one block, texts included
}

struct OffsetTarget {
    Location* location;
    const ReferenceTable& references;
};

OTF2_CallbackCode clock_offset(void* user, OTF2_TimeStamp time, std::int64_t offset, double)
{
    const auto& target = *static_cast<const OffsetTarget*>(user);
    try {
        target.location->clock_offsets.push_back(
            {.at_ns = target.references.time_ns(time), .offset_ns = target.references.duration_ns(offset)});
        return OTF2_CALLBACK_SUCCESS;
    } catch (...) {
        return OTF2_CALLBACK_ERROR;
    }
}

}  // namespace

Definitions read_global_definitions(OTF2_Reader* reader)
{
    Raw raw;
    OTF2_GlobalDefReader* definitions = check(OTF2_Reader_GetGlobalDefReader(reader), "read its definitions");
    const GlobalDefCallbacks callbacks = global_callbacks();
    check(OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, callbacks.get(), &raw), "read its definitions");
    constexpr std::uint64_t at_once = 100'000;
    std::uint64_t read = 0;
    for (std::uint64_t some = at_once; some == at_once; read += some) {
        check(OTF2_Reader_ReadGlobalDefinitions(reader, definitions, at_once, &some), "read its definitions");
        getting_on();
    }
    std::uint64_t expected = 0;
    check(OTF2_Reader_GetNumberOfGlobalDefinitions(reader, &expected), "count its definitions");
    if (read < expected) base::fail("cut off: only ", read, " of ", expected, " definitions are there");
    check(OTF2_Reader_CloseGlobalDefReader(reader, definitions), "read its definitions");
    Definitions result = Resolver{raw}.resolve();
    getting_on();
    read_anchor(reader, result.archive);
    return result;
}

std::vector<std::size_t> read_local_definitions(OTF2_Reader* reader, const Archive& known,
                                                const ReferenceTable& references, std::size_t first, std::size_t last,
                                                Archive* offsets)
{
    for (std::size_t i = first; i < last; ++i)
        check(OTF2_Reader_SelectLocation(reader, known.locations[i].id), "select location ", known.locations[i].name);
    const bool any = OTF2_Reader_OpenDefFiles(reader) == OTF2_SUCCESS;
    const DefCallbacks callbacks{check(OTF2_DefReaderCallbacks_New(), "read local definitions")};
    OTF2_DefReaderCallbacks_SetClockOffsetCallback(callbacks.get(), clock_offset);
    OffsetTarget target{nullptr, references};
    std::vector<std::size_t> without;
    for (std::size_t i = first; i < last; ++i) {
        const std::string& name = known.locations[i].name;
        OTF2_DefReader* definitions = any ? OTF2_Reader_GetDefReader(reader, known.locations[i].id) : nullptr;
        if (definitions == nullptr) {
            without.push_back(i);
            continue;
        }
        if (offsets != nullptr) {
            target.location = &offsets->locations[i];
            check(OTF2_Reader_RegisterDefCallbacks(reader, definitions, callbacks.get(), &target),
                  "read definitions of ", name);
        }
        std::uint64_t read = 0;
        check(OTF2_Reader_ReadAllLocalDefinitions(reader, definitions, &read), "read definitions of ", name);
        check(OTF2_Reader_CloseDefReader(reader, definitions), "read definitions of ", name);
    }
    if (any) check(OTF2_Reader_CloseDefFiles(reader), "close local definitions");
    return without;
}

}  // namespace otf2
