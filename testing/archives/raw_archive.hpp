// SPDX-License-Identifier: Apache-2.0
// Writes an archive with OTF2 directly, definition by definition, for contents that our recorder never writes.
#pragma once

#include "trace-tools/otf2/handles.hpp"

#include <otf2/otf2.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace otf2 {

class RawArchive {
 public:
    explicit RawArchive(const std::filesystem::path& directory, const std::string& name = "traces",
                        std::uint64_t event_chunk = 256 * 1024)
        : anchor_{directory / (name + ".otf2")}
    {
        constexpr std::uint64_t definition_chunk = 256 * 1024;
        static const OTF2_FlushCallbacks flushes{.otf2_pre_flush = [](void*, OTF2_FileType, OTF2_LocationRef, void*,
                                                                      bool) -> OTF2_FlushType { return OTF2_FLUSH; },
                                                 .otf2_post_flush = nullptr};
        keep_otf2_quiet();
        archive_.reset(check(OTF2_Archive_Open(directory.c_str(), name.c_str(), OTF2_FILEMODE_WRITE, event_chunk,
                                               definition_chunk, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE),
                             "create an archive"));
        check(OTF2_Archive_SetFlushCallbacks(archive_.get(), &flushes, nullptr), "set flushing");
        check(OTF2_Archive_SetSerialCollectiveCallbacks(archive_.get()), "write it alone");
        check(OTF2_Archive_OpenEvtFiles(archive_.get()), "open events");
    }

    const std::filesystem::path& anchor() const { return anchor_; }

    OTF2_EvtWriter* events(OTF2_LocationRef location)
    {
        OTF2_EvtWriter*& writer = writers_[location];
        if (writer == nullptr) writer = check(OTF2_Archive_GetEvtWriter(archive_.get(), location), "write events");
        return writer;
    }

    void enter(OTF2_LocationRef location, std::uint64_t time, OTF2_RegionRef region)
    {
        check(OTF2_EvtWriter_Enter(events(location), nullptr, time, region), "enter");
    }
    void leave(OTF2_LocationRef location, std::uint64_t time, OTF2_RegionRef region)
    {
        check(OTF2_EvtWriter_Leave(events(location), nullptr, time, region), "leave");
    }

    // States this number of events in the location's definition, whatever the number of events written.
    void count_as(OTF2_LocationRef location, std::uint64_t events) { counted_[location] = events; }

    // Call after the last event, before any definition. Region i of a location's events is region map[i] of the
    // definitions; an empty map is not written.
    void end_events(const std::map<OTF2_LocationRef, std::vector<std::uint64_t>>& region_maps = {})
    {
        for (const auto& [location, writer] : writers_) {
            check(OTF2_EvtWriter_GetNumberOfEvents(writer, &events_[location]), "count events");
            if (const auto reported = counted_.find(location); reported != counted_.end())
                events_[location] = reported->second;
            check(OTF2_Archive_CloseEvtWriter(archive_.get(), writer), "close events");
        }
        check(OTF2_Archive_CloseEvtFiles(archive_.get()), "close events");
        check(OTF2_Archive_OpenDefFiles(archive_.get()), "open definitions");
        for (const auto& [location, count] : events_) {
            OTF2_DefWriter* local = check(OTF2_Archive_GetDefWriter(archive_.get(), location), "write definitions");
            if (const auto found = region_maps.find(location); found != region_maps.end()) {
                const IdMapHandle map{
                    OTF2_IdMap_CreateFromUint64Array(found->second.size(), found->second.data(), false)};
                check(OTF2_DefWriter_WriteMappingTable(local, OTF2_MAPPING_REGION, map.get()), "write a mapping");
            }
            check(OTF2_Archive_CloseDefWriter(archive_.get(), local), "close definitions");
        }
        check(OTF2_Archive_CloseDefFiles(archive_.get()), "close definitions");
        definitions_ = check(OTF2_Archive_GetGlobalDefWriter(archive_.get()), "write definitions");
    }

    OTF2_GlobalDefWriter* definitions() { return definitions_; }

    // Reference of a string, which is defined at its first use.
    OTF2_StringRef text(const std::string& words)
    {
        const auto [found, added] = texts_.try_emplace(words, static_cast<OTF2_StringRef>(texts_.size()));
        if (added) check(OTF2_GlobalDefWriter_WriteString(definitions_, found->second, words.c_str()), "define");
        return found->second;
    }

    void clock(std::uint64_t begin, std::uint64_t length, std::uint64_t ticks_per_s = 1'000'000'000)
    {
        check(OTF2_GlobalDefWriter_WriteClockProperties(definitions_, ticks_per_s, begin, length,
                                                        OTF2_UNDEFINED_TIMESTAMP),
              "define");
    }
    void node(OTF2_SystemTreeNodeRef number, const std::string& name)
    {
        const OTF2_StringRef name_text = text(name);
        const OTF2_StringRef kind = text("node");
        check(OTF2_GlobalDefWriter_WriteSystemTreeNode(definitions_, number, name_text, kind,
                                                       OTF2_UNDEFINED_SYSTEM_TREE_NODE),
              "define");
    }
    void process(OTF2_LocationGroupRef number, const std::string& name,
                 OTF2_SystemTreeNodeRef node = OTF2_UNDEFINED_SYSTEM_TREE_NODE,
                 OTF2_LocationGroupType type = OTF2_LOCATION_GROUP_TYPE_PROCESS)
    {
        const OTF2_StringRef name_text = text(name);
        check(OTF2_GlobalDefWriter_WriteLocationGroup(definitions_, number, name_text, type, node,
                                                      OTF2_UNDEFINED_LOCATION_GROUP),
              "define");
    }
    void location(OTF2_LocationRef number, const std::string& name, OTF2_LocationGroupRef process,
                  OTF2_LocationType type = OTF2_LOCATION_TYPE_CPU_THREAD)
    {
        const OTF2_StringRef name_text = text(name);
        check(OTF2_GlobalDefWriter_WriteLocation(definitions_, number, name_text, type, events_[number], process),
              "define");
    }
    void region(OTF2_RegionRef number, const std::string& name, OTF2_RegionRole role = OTF2_REGION_ROLE_FUNCTION,
                OTF2_Paradigm paradigm = OTF2_PARADIGM_USER)
    {
        const OTF2_StringRef name_text = text(name);
        check(OTF2_GlobalDefWriter_WriteRegion(definitions_, number, name_text, name_text, OTF2_UNDEFINED_STRING, role,
                                               paradigm, OTF2_REGION_FLAG_NONE, OTF2_UNDEFINED_STRING, 0, 0),
              "define");
    }

    void finish() { archive_.reset(); }

 private:
    std::filesystem::path anchor_;
    ArchiveHandle archive_;
    OTF2_GlobalDefWriter* definitions_ = nullptr;
    std::map<OTF2_LocationRef, OTF2_EvtWriter*> writers_;
    std::map<OTF2_LocationRef, std::uint64_t> events_;
    std::map<OTF2_LocationRef, std::uint64_t> counted_;
    std::map<std::string, OTF2_StringRef> texts_;
};

}  // namespace otf2
