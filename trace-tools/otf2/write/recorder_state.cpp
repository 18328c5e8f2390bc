// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/otf2/write/recorder_state.hpp"

#include "base/contract/run_directory.hpp"
#include "base/files.hpp"
#include "base/version.hpp"
#include "trace-tools/otf2/handles.hpp"

#include <cerrno>
#include <cstdio>
#include <new>
#include <system_error>
#include <utility>

namespace otf2 {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t definition_chunk_bytes = 4 << 20;

// Removes the slash that shells append, so that unfinished() is a sibling of the directory, not inside it.
fs::path without_trailing_slash(fs::path directory)
{
    while ((!directory.has_filename() || directory.filename() == ".") && directory.parent_path().has_filename())
        directory = directory.parent_path();
    return directory;
}

std::size_t index_of(std::uint64_t location_number)
{
    return location_number >> 32U;
}

}  // namespace

void move_into_place(const fs::path& from, const fs::path& to)
{
    if (std::rename(from.c_str(), to.c_str()) != 0)
        throw std::system_error{errno, std::generic_category(), "cannot move the trace to " + to.string()};
}

fs::path unfinished(const fs::path& directory)
{
    return without_trailing_slash(directory).string() + ".tmp";
}

Recorder::State::State(const fs::path& into, std::unique_ptr<Team> together_with)
    : directory{without_trailing_slash(into)}, team{std::move(together_with)}
{
}

void Recorder::State::open_archive(std::uint64_t memory_bytes)
{
    memory = std::make_unique<EventMemory>(memory_bytes);
    archive.reset(
        check(OTF2_Archive_Open(unfinished(directory).c_str(), base::file::archive, OTF2_FILEMODE_WRITE,
                                event_chunk_bytes, definition_chunk_bytes, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE),
              "create an archive in ", directory.string()));
    static const OTF2_FlushCallbacks flushing{.otf2_pre_flush = before_flush, .otf2_post_flush = after_flush};
    check(OTF2_Archive_SetFlushCallbacks(archive.get(), &flushing, this), "set up the archive");
    use_memory(archive.get(), *memory);
    lock_with_mutexes(archive.get());
    check(OTF2_Archive_SetCreator(archive.get(), ("crosstalk " + base::version()).c_str()), "set up the archive");
}

LocationRecorder& Recorder::State::of(OTF2_LocationRef location)
{
    const std::lock_guard lock{mutex};
    return locations.at(index_of(location));
}

// OTF2 reports a failed flush (a full disk) to its error handler, but not to the caller that writes the event.
OTF2_FlushType Recorder::State::before_flush(void* state, OTF2_FileType type, OTF2_LocationRef location, void*,
                                             bool final)
{
    auto& self = *static_cast<State*>(state);
    if (self.flush_failure.load() != OTF2_SUCCESS) return OTF2_NO_FLUSH;  // OTF2 has freed the file's memory
    last_error();                                                         // clears an earlier error
    if (type == OTF2_FILETYPE_EVENTS && !final) self.of(location).flush_begin_ns_ = base::now_ns();
    return OTF2_FLUSH;
}

// OTF2 records a BufferFlush event that ends at the time returned here.
OTF2_TimeStamp Recorder::State::after_flush(void* state, OTF2_FileType type, OTF2_LocationRef location)
{
    auto& self = *static_cast<State*>(state);
    const OTF2_ErrorCode code = last_error();
    if (code != OTF2_SUCCESS) self.flush_failure.store(code);
    const std::int64_t end_ns = base::now_ns();
    if (type == OTF2_FILETYPE_EVENTS) self.of(location).flush_end_ns_ = end_ns;
    return static_cast<OTF2_TimeStamp>(end_ns);
}

// Closing would wait for the other processes and write an anchor, which must not happen after a failure. So the archive
// is leaked until the process ends.
void Recorder::State::give_up()
{
    static std::mutex several_ranks_are_threads;
    static auto& given_up = *new std::vector<std::pair<OTF2_Archive*, EventMemory*>>;
    const std::lock_guard lock{several_ranks_are_threads};
    if (!archive) return;
    try {
        given_up.emplace_back(archive.get(), memory.get());
    } catch (const std::bad_alloc&) {  // the archive is still leaked, though not reachable
    }
    static_cast<void>(archive.release());
    static_cast<void>(memory.release());
}

// Removes the directory, which no reader could use.
void Recorder::State::remove_unfinished()
{
    std::error_code ignored;
    if (team->rank() == 0) base::remove_tree(unfinished(directory), ignored);
}

void Recorder::State::check_events()
{
    check(static_cast<OTF2_ErrorCode>(flush_failure.load()), "write events");
    for (std::size_t i = 0; i < locations.size(); ++i)
        check(static_cast<OTF2_ErrorCode>(locations[i].failure_), "record on ", record.locations[i].name);
}

void Recorder::State::close_events()
{
    for (std::size_t i = 0; i < locations.size(); ++i) {
        LocationRow& row = record.locations[i];
        row.first_ns = locations[i].first_ns_;
        row.last_ns = locations[i].last_ns_;
        check(OTF2_EvtWriter_GetNumberOfEvents(writers[i], &row.events), "count the events of ", row.name);
        check(OTF2_Archive_CloseEvtWriter(archive.get(), writers[i]), "write the last events of ", row.name);
    }
}

void Recorder::State::copy_tables()
{
    record.texts = texts.rows();
    record.regions = regions.rows();
    record.attributes = attributes.rows();
    record.region_groups = region_groups;
    record.metrics = metrics.rows();
    record.realtime_minus_monotonic_end_ns = base::realtime_offset_ns();
}

std::vector<ProcessRecord> Recorder::State::gather_records()
{
    copy_tables();
    record.clock_offsets.push_back(team->clock_offset(record.clock_identity));
    std::vector<ProcessRecord> records;
    for (const std::string& bytes : team->gather(to_bytes(record))) records.push_back(record_from_bytes(bytes));
    return records;
}

void Recorder::State::write_local(const Numbering& numbering)
{
    for (const LocationRow& location : record.locations)
        write_local_definitions(archive.get(), location.id, numbering, record.clock_offsets);
}

void Recorder::State::write_global(const std::vector<ProcessRecord>& records, const Unified& unified)
{
    write_global_definitions(archive.get(), records, unified);
    for (const auto& property : record.properties)
        check(OTF2_Archive_SetProperty(archive.get(), property.first.c_str(), property.second.c_str(), true),
              "set property ", property.first);
}

// Works in stages: before a rank enters one in which OTF2 waits for other ranks, all ranks have completed the previous
// one.
void Recorder::State::write()
{
    const auto step = [this](const auto& work) { together(*team, [&] { check_written(work, "write the trace"); }); };
    step([&] { check_events(); });
    step([&] { close_events(); });
    step([&] { check(OTF2_Archive_CloseEvtFiles(archive.get()), "write events"); });
    const std::vector<ProcessRecord> records = gather_records();
    const Unified unified = unify(records);
    std::vector<std::string> numberings;
    for (const Numbering& numbering : unified.numberings) numberings.push_back(to_bytes(numbering));
    const Numbering mine = numbering_from_bytes(team->scatter(numberings));
    step([&] { check(OTF2_Archive_OpenDefFiles(archive.get()), "create definition files"); });
    step([&] { write_local(mine); });
    step([&] { check(OTF2_Archive_CloseDefFiles(archive.get()), "write local definitions"); });
    step([&] {
        if (team->rank() == 0) write_global(records, unified);
    });
    step([&] { check(OTF2_Archive_Close(archive.release()), "close the archive"); });
    step([&] {
        if (team->rank() == 0) move_into_place(unfinished(directory), directory);
    });
}

}  // namespace otf2
