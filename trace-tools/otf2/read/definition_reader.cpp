// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/otf2/read/definition_reader.hpp"

#include "trace-tools/otf2/handles.hpp"
#include "trace-tools/otf2/read/confined.hpp"
#include "trace-tools/otf2/read/stored_definitions.hpp"

#include <cmath>
#include <cstdlib>
#include <utility>

namespace otf2 {

namespace {

using GlobalDefCallbacks = Handle<OTF2_GlobalDefReaderCallbacks, OTF2_GlobalDefReaderCallbacks_Delete>;
using DefCallbacks = Handle<OTF2_DefReaderCallbacks, OTF2_DefReaderCallbacks_Delete>;

// Makes a lambda without captures OTF2's callback: it is called with the definitions so far and the new definition.
template <class Handler, class... Arguments>
auto callback(Handler, void (Handler::*)(StoredDefinitions&, Arguments...) const)
{
    return [](void* user, Arguments... arguments) {
        return with_state<StoredDefinitions>(user, [&](StoredDefinitions& stored) { Handler{}(stored, arguments...); });
    };
}
template <class Handler>
auto callback(Handler handler)
{
    return callback(handler, &Handler::operator());
}

GlobalDefCallbacks global_callbacks()
{
    GlobalDefCallbacks callbacks{check(OTF2_GlobalDefReaderCallbacks_New(), "read definitions")};
    OTF2_GlobalDefReaderCallbacks* set = callbacks.get();
    OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(
        set, callback([](StoredDefinitions& stored, std::uint64_t resolution, std::uint64_t offset,
                         std::uint64_t length, std::uint64_t realtime) {
            stored.has_clock = true;
            stored.ticks_per_s = resolution;
            stored.first_tick = offset;
            stored.length_ticks = length;
            stored.realtime = realtime;
        }));
    OTF2_GlobalDefReaderCallbacks_SetStringCallback(
        set, callback([](StoredDefinitions& stored, OTF2_StringRef self, const char* text) {
            stored.add<std::string>(stored.references.strings, self, stored.references.texts,
                                    text != nullptr ? text : "");
        }));
    OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(
        set, callback([](StoredDefinitions& stored, OTF2_SystemTreeNodeRef self, OTF2_StringRef name,
                         OTF2_StringRef class_name, OTF2_SystemTreeNodeRef parent) {
            stored.add(stored.node_table, self, stored.nodes, {name, class_name, parent});
        }));
    OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodePropertyCallback(
        set, callback([](StoredDefinitions& stored, OTF2_SystemTreeNodeRef of, OTF2_StringRef name, OTF2_Type type,
                         OTF2_AttributeValue value) {
            stored.node_properties.push_back({of, name, type, value});
        }));
    OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(
        set, callback([](StoredDefinitions& stored, OTF2_LocationGroupRef self, OTF2_StringRef name,
                         OTF2_LocationGroupType type, OTF2_SystemTreeNodeRef node_of, OTF2_LocationGroupRef creator) {
            stored.add(stored.process_table, self, stored.processes, {name, type, node_of, creator});
        }));
    OTF2_GlobalDefReaderCallbacks_SetLocationGroupPropertyCallback(
        set, callback([](StoredDefinitions& stored, OTF2_LocationGroupRef of, OTF2_StringRef name, OTF2_Type type,
                         OTF2_AttributeValue value) {
            stored.process_properties.push_back({of, name, type, value});
        }));
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(
        set, callback([](StoredDefinitions& stored, OTF2_LocationRef self, OTF2_StringRef name, OTF2_LocationType type,
                         std::uint64_t events, OTF2_LocationGroupRef process_of) {
            stored.add(stored.references.locations, self, stored.locations, {self, name, type, events, process_of});
        }));
    OTF2_GlobalDefReaderCallbacks_SetLocationPropertyCallback(
        set, callback([](StoredDefinitions& stored, OTF2_LocationRef of, OTF2_StringRef name, OTF2_Type type,
                         OTF2_AttributeValue value) {
            stored.location_properties.push_back({of, name, type, value});
        }));
    OTF2_GlobalDefReaderCallbacks_SetRegionCallback(
        set, callback([](StoredDefinitions& stored, OTF2_RegionRef self, OTF2_StringRef name, OTF2_StringRef,
                         OTF2_StringRef, OTF2_RegionRole role, OTF2_Paradigm paradigm, OTF2_RegionFlag,
                         OTF2_StringRef file, std::uint32_t, std::uint32_t) {
            stored.add(stored.references.regions, self, stored.regions, {name, file, role, paradigm});
        }));
    OTF2_GlobalDefReaderCallbacks_SetAttributeCallback(
        set, callback([](StoredDefinitions& stored, OTF2_AttributeRef self, OTF2_StringRef name,
                         OTF2_StringRef description, OTF2_Type type) {
            stored.add(stored.references.attributes, self, stored.attributes, {self, name, description, type});
        }));
    OTF2_GlobalDefReaderCallbacks_SetMetricMemberCallback(
        set, callback([](StoredDefinitions& stored, OTF2_MetricMemberRef self, OTF2_StringRef name,
                         OTF2_StringRef description, OTF2_MetricType, OTF2_MetricMode mode, OTF2_Type type,
                         OTF2_Base base, std::int64_t exponent, OTF2_StringRef unit) {
            stored.add(stored.metric_table, self, stored.metrics,
                       {name, description, unit, mode, type, base, exponent});
        }));
    OTF2_GlobalDefReaderCallbacks_SetMetricClassCallback(
        set, callback([](StoredDefinitions& stored, OTF2_MetricRef self, std::uint8_t count,
                         const OTF2_MetricMemberRef* members, OTF2_MetricOccurrence, OTF2_RecorderKind) {
            stored.metric_classes.push_back({self, {members, members + count}});
        }));
    OTF2_GlobalDefReaderCallbacks_SetMetricInstanceCallback(
        set, callback([](StoredDefinitions& stored, OTF2_MetricRef self, OTF2_MetricRef of, OTF2_LocationRef,
                         OTF2_MetricScope, std::uint64_t) {
            stored.metric_instances.push_back({self, of});
        }));
    OTF2_GlobalDefReaderCallbacks_SetGroupCallback(
        set,
        callback([](StoredDefinitions& stored, OTF2_GroupRef self, OTF2_StringRef, OTF2_GroupType type,
                    OTF2_Paradigm paradigm, OTF2_GroupFlag flags, std::uint32_t count, const std::uint64_t* members) {
            stored.add_group(self, {type, paradigm, flags, {members, members + count}});
        }));
    OTF2_GlobalDefReaderCallbacks_SetCommCallback(
        set, callback([](StoredDefinitions& stored, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef of,
                         OTF2_CommRef, OTF2_CommFlag) {
            stored.add(stored.references.communicators, self, stored.communicators, {name, of});
        }));
    return callbacks;
}

// OTF2 returns strings that the caller must free.
std::string owned(char* text)
{
    std::string copy = text != nullptr ? text : "";
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
    std::free(names);  // one block that includes the texts
}

struct OffsetTarget {
    Location* location;
    const ReferenceTable& references;
};

OTF2_CallbackCode clock_offset(void* user, OTF2_TimeStamp time, std::int64_t offset, double deviation)
{
    const auto& target = *static_cast<const OffsetTarget*>(user);
    try {
        constexpr double longest = 1e15;  // ticks; a larger error means that the file is damaged
        const bool stated = deviation >= 0.0 && deviation < longest;
        target.location->clock_offsets.push_back(
            {.at_ns = target.references.time_ns(time),
             .offset_ns = target.references.duration_ns(offset),
             .error_ns = stated ? target.references.duration_ns(std::llround(deviation)) : 0});
        return OTF2_CALLBACK_SUCCESS;
    } catch (...) {
        return OTF2_CALLBACK_ERROR;
    }
}

}  // namespace

Definitions read_global_definitions(OTF2_Reader* reader)
{
    StoredDefinitions stored;
    OTF2_GlobalDefReader* definitions = check(OTF2_Reader_GetGlobalDefReader(reader), "read its definitions");
    const GlobalDefCallbacks callbacks = global_callbacks();
    check(OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, callbacks.get(), &stored),
          "read its definitions");
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
    Definitions result = resolve(std::move(stored));
    getting_on();
    read_anchor(reader, result.archive);
    auto& remarks = result.archive.is_ours() ? result.archive.problems : result.archive.oddities;
    remarks.insert(remarks.end(), result.forgiven_to_others.begin(), result.forgiven_to_others.end());
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
