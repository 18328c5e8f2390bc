// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/merge/local_definitions.hpp"

#include "trace-tools/otf2/clock_offset.hpp"
#include "trace-tools/otf2/handles.hpp"

namespace merge {

namespace {

using LocalDefinitionCallbacks = otf2::Handle<OTF2_DefReaderCallbacks, OTF2_DefReaderCallbacks_Delete>;
using Numbers = std::map<std::uint64_t, std::uint64_t>;

struct Collected {
    Numbers& numbers;
    bool all = true;
};

void collect(std::uint64_t local, std::uint64_t global, void* user)
{
    auto& collected = *static_cast<Collected*>(user);
    try {
        collected.numbers.try_emplace(local, global);
    } catch (...) {
        collected.all = false;
    }
}

OTF2_CallbackCode mapping(void* user, OTF2_MappingType type, const OTF2_IdMap* map)
{
    if (type >= mapped_spaces) return OTF2_CALLBACK_SUCCESS;
    Collected collected{static_cast<LocalDefinitions*>(user)->numbers[type]};
    const OTF2_ErrorCode code = OTF2_IdMap_Traverse(map, collect, &collected);
    return code == OTF2_SUCCESS && collected.all ? OTF2_CALLBACK_SUCCESS : OTF2_CALLBACK_ERROR;
}

OTF2_CallbackCode clock_offset(void* user, OTF2_TimeStamp at, std::int64_t offset, double deviation)
{
    return otf2::with_state<LocalDefinitions>(user, [&](LocalDefinitions& local) {
        local.clock_offsets.push_back({at, offset, deviation});
    });
}

void write_numbers(OTF2_DefWriter* writer, OTF2_MappingType type, const Numbers& numbers)
{
    const otf2::IdMapHandle map{
        otf2::check(OTF2_IdMap_Create(OTF2_ID_MAP_SPARSE, numbers.size()), "make a mapping table")};
    for (const auto& [local, global] : numbers)
        otf2::check(OTF2_IdMap_AddIdPair(map.get(), local, global), "make a mapping table");
    otf2::check(OTF2_DefWriter_WriteMappingTable(writer, type, map.get()), "write a mapping table");
}

}  // namespace

LocalDefinitions read_local_definitions(OTF2_Reader* reader, OTF2_LocationRef location)
{
    LocalDefinitions local;
    OTF2_DefReader* definitions = OTF2_Reader_GetDefReader(reader, location);
    if (definitions == nullptr) return local;
    const LocalDefinitionCallbacks callbacks{otf2::check(OTF2_DefReaderCallbacks_New(), "read local definitions")};
    OTF2_DefReaderCallbacks_SetMappingTableCallback(callbacks.get(), mapping);
    OTF2_DefReaderCallbacks_SetClockOffsetCallback(callbacks.get(), clock_offset);
    otf2::check(OTF2_Reader_RegisterDefCallbacks(reader, definitions, callbacks.get(), &local),
                "read local definitions");
    std::uint64_t read = 0;
    otf2::check(OTF2_Reader_ReadAllLocalDefinitions(reader, definitions, &read), "read local definitions");
    otf2::check(OTF2_Reader_CloseDefReader(reader, definitions), "read local definitions");
    return local;
}

void write_local_definitions(OTF2_Archive* archive, OTF2_LocationRef location, const LocalDefinitions& definitions)
{
    OTF2_DefWriter* writer = otf2::check(OTF2_Archive_GetDefWriter(archive, location), "write local definitions");
    for (std::size_t space = 0; space < mapped_spaces; ++space)
        if (!definitions.numbers[space].empty())
            write_numbers(writer, static_cast<OTF2_MappingType>(space), definitions.numbers[space]);
    for (const RawClockOffset& offset : definitions.clock_offsets)
        otf2::check(OTF2_DefWriter_WriteClockOffset(writer, offset.at, offset.offset, offset.deviation),
                    "write a clock offset");
    otf2::check(OTF2_Archive_CloseDefWriter(archive, writer), "close local definitions");
}

std::uint64_t common_time(std::uint64_t tick, const std::vector<RawClockOffset>& offsets)
{
    if (offsets.empty()) return tick;
    std::vector<otf2::ClockOffset> in_ticks;
    for (const RawClockOffset& offset : offsets)
        in_ticks.push_back({.at_ns = static_cast<std::int64_t>(offset.at), .offset_ns = offset.offset});
    return static_cast<std::uint64_t>(otf2::on_common_clock(static_cast<std::int64_t>(tick), in_ticks));
}

}  // namespace merge
