// SPDX-License-Identifier: Apache-2.0
// State of a Recorder: the archive being written, and the definitions that this process has made.
#pragma once

#include "base/error.hpp"
#include "trace-tools/otf2/handles.hpp"
#include "trace-tools/otf2/write/chunks.hpp"
#include "trace-tools/otf2/write/definition_writer.hpp"
#include "trace-tools/otf2/write/recorded.hpp"
#include "trace-tools/otf2/write/recorder.hpp"

#include <atomic>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace otf2 {

// A number that no other rank uses, without communication.
inline std::uint64_t location_number(int rank, std::size_t index)
{
    return (std::uint64_t{index} << 32U) | static_cast<std::uint32_t>(rank);
}

// Throws std::system_error.
void move_into_place(const std::filesystem::path& from, const std::filesystem::path& to);

struct Recorder::State {
    State(const std::filesystem::path& into, std::unique_ptr<Team> together_with);
    ~State() { give_up(); }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    const std::filesystem::path directory;
    const std::unique_ptr<Team> team;
    std::unique_ptr<EventMemory> memory;
    std::atomic<int> flush_failure{OTF2_SUCCESS};  // OTF2's code
    ArchiveHandle archive;

    std::mutex mutex;  // guards all members below
    ProcessRecord record;
    Table<std::string> texts;
    Table<RegionRow> regions;
    Table<AttributeRow> attributes;
    std::map<std::string, std::vector<std::uint32_t>> region_groups;
    Table<MetricClass> metrics;
    std::map<CommunicatorKey, CommunicatorRef> communicators;
    std::deque<LocationRecorder> locations;  // a deque's elements never move
    std::vector<AttributeListHandle> attribute_lists;
    std::vector<OTF2_EvtWriter*> writers;
    bool over = false;  // finish_alone() has begun, so no new locations are made

    static OTF2_FlushType before_flush(void* state, OTF2_FileType, OTF2_LocationRef, void*, bool);
    static OTF2_TimeStamp after_flush(void* state, OTF2_FileType, OTF2_LocationRef);
    LocationRecorder& of(OTF2_LocationRef location);

    void open_archive(std::uint64_t memory_bytes);
    void copy_tables();
    void check_events();
    void close_events();
    std::vector<ProcessRecord> gather_records();
    void write_local(const Numbering& numbering);
    void write_global(const std::vector<ProcessRecord>& records, const Unified& unified);
    void write();
    void stop_events();
    void end_record(const std::string& why);
    bool finish_alone(const std::string& why);
    void write_definitions(const std::vector<ProcessRecord>& records);
    void give_up();
    void remove_unfinished();
};

}  // namespace otf2
