#include "trace-tools/otf2/write/recorder.hpp"

#include "base/contract/run_directory.hpp"
#include "base/launcher.hpp"
#include "base/units.hpp"
#include "base/version.hpp"
#include "trace-tools/otf2/handles.hpp"
#include "trace-tools/otf2/locking.hpp"
#include "trace-tools/otf2/write/chunks.hpp"
#include "trace-tools/otf2/write/collectives.hpp"
#include "trace-tools/otf2/write/definition_writer.hpp"
#include "trace-tools/otf2/write/recorded.hpp"

#include <atomic>
#include <cstdio>
#include <deque>
#include <map>
#include <mutex>
#include <new>
#include <system_error>

namespace otf2 {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t definition_chunk_bytes = 4 << 20;

// What throws on one rank throws on every rank: no rank waits for one that has given up.
template <class Work>
void together(Team& team, const Work& work)
{
    std::string failure;
    try {
        work();
    } catch (const std::exception& error) {
        failure = error.what();
    }
    std::string first;
    for (const std::string& one : team.gather(failure))
        if (first.empty()) first = one;
    first = team.broadcast(first);
    if (!first.empty()) throw base::Error{first};
}

// "trace/", as shells complete it, is "trace": what lies beside it must not lie in it.
fs::path without_trailing_slash(fs::path directory)
{
    while ((!directory.has_filename() || directory.filename() == ".") && directory.parent_path().has_filename())
        directory = directory.parent_path();
    return directory;
}

bool is_there(const fs::path& path)
{
    std::error_code unknown;  // ignored: creating it will report why
    return fs::exists(fs::symlink_status(path, unknown));
}

void make_room(const fs::path& directory)
{
    if (directory.empty()) base::fail("there is no directory to record into");
    const fs::path beside = unfinished(directory);
    if (is_there(directory) || directory.filename() == "..")
        base::fail("cannot record into ", directory.string(), ": it is already there");
    if (is_there(beside))
        base::fail("cannot record into ", directory.string(), ": a run that was killed, or is still running, left ",
                   beside.string(), "; if none is running it may be removed");
    std::error_code code;
    if (!directory.parent_path().empty()) fs::create_directories(directory.parent_path(), code);
    if (!code) fs::create_directory(beside, code);
    if (code) base::fail("cannot create ", beside.string(), ": ", code.message());
}

// Numbers that no other rank takes, without asking them.
std::uint64_t location_number(int rank, std::size_t index)
{
    return (std::uint64_t{index} << 32U) | static_cast<std::uint32_t>(rank);
}

std::size_t index_of(std::uint64_t location_number)
{
    return location_number >> 32U;
}

void move_into_place(const fs::path& from, const fs::path& to)
{
    if (std::rename(from.c_str(), to.c_str()) != 0)
        throw std::system_error{errno, std::generic_category(), "cannot put the trace at " + to.string()};
}

}  // namespace

fs::path unfinished(const fs::path& directory)
{
    return without_trailing_slash(directory).string() + ".tmp";
}

struct Recorder::State {
    State(const fs::path& into, std::unique_ptr<Team> together_with)
        : directory{without_trailing_slash(into)}, team{std::move(together_with)}
    {
    }

    ~State() { give_up(); }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    const fs::path directory;
    const std::unique_ptr<Team> team;
    std::unique_ptr<EventMemory> memory;
    std::atomic<int> flush_failure{OTF2_SUCCESS};  // OTF2's code
    ArchiveHandle archive;

    std::mutex mutex;  // guards what follows
    ProcessRecord record;
    Table<std::string> texts;
    Table<RegionRow> regions;
    Table<AttributeRow> attributes;
    Table<MetricRow> metrics;
    std::map<CommunicatorKey, CommunicatorRef> communicators;
    std::deque<LocationRecorder> locations;  // a deque's elements stay where they are
    std::vector<AttributeListHandle> attribute_lists;
    std::vector<OTF2_EvtWriter*> writers;

    static OTF2_FlushType before_flush(void* state, OTF2_FileType, OTF2_LocationRef, void*, bool);
    static OTF2_TimeStamp after_flush(void* state, OTF2_FileType, OTF2_LocationRef);
    LocationRecorder& of(OTF2_LocationRef location);

    void open_archive(std::uint64_t memory_bytes);
    void check_events();
    void close_events();
    std::vector<ProcessRecord> gather_records();
    void write_local(const Numbering& numbering);
    void write_global(const std::vector<ProcessRecord>& records, const Unified& unified);
    void write();
    void give_up();
    void remove_unfinished();
};

Recorder::Recorder() = default;

Recorder Recorder::off()
{
    return {};
}

Recorder::Recorder(const fs::path& directory, std::unique_ptr<Team> team, std::string process,
                   std::uint64_t memory_bytes)
    : state_{std::make_unique<State>(directory, std::move(team))}
{
    keep_otf2_quiet();
    State& state = *state_;
    Team& all = *state.team;
    together(all, [&] {
        if (all.rank() == 0) make_room(state.directory);
    });
    try {
        state.record.process = process.empty() ? all.process_name() : std::move(process);
        state.record.host = base::host_name();
        state.record.clock_identity = base::clock_identity().text();
        state.record.realtime_minus_monotonic_start_ns = base::realtime_offset_ns();
        state.record.clock_samples.push_back(all.clock_sample(state.record.clock_identity));

        together(all, [&] { state.open_archive(memory_bytes); });
        together(all, [&] { use_team(state.archive.get(), all); });
        together(all, [&] {
            check(OTF2_Archive_OpenEvtFiles(state.archive.get()), "create files in ", state.directory.string());
        });
    } catch (...) {
        state.remove_unfinished();
        throw;
    }
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

// OTF2 reports a failed flush (the disk is full) to its error handler, but not to the writer of the event.
OTF2_FlushType Recorder::State::before_flush(void* state, OTF2_FileType type, OTF2_LocationRef location, void*,
                                             bool final)
{
    auto& self = *static_cast<State*>(state);
    if (self.flush_failure.load() != OTF2_SUCCESS) return OTF2_NO_FLUSH;  // OTF2 has freed the file's memory
    last_error();                                                         // of long ago
    if (type == OTF2_FILETYPE_EVENTS && !final) self.of(location).flush_begin_ns_ = base::now_ns();
    return OTF2_FLUSH;
}

// OTF2 records a BufferFlush event that ends at the time returned.
OTF2_TimeStamp Recorder::State::after_flush(void* state, OTF2_FileType, OTF2_LocationRef location)
{
    auto& self = *static_cast<State*>(state);
    const OTF2_ErrorCode code = last_error();
    if (code != OTF2_SUCCESS) self.flush_failure.store(code);
    const std::int64_t end_ns = base::now_ns();
    self.of(location).flush_end_ns_ = end_ns;
    return static_cast<OTF2_TimeStamp>(end_ns);
}

Recorder::~Recorder() = default;

// Closing would wait for the other processes and write an anchor. Neither is wanted from one that has given up: what it
// holds stays until the process ends.
void Recorder::State::give_up()
{
    static std::mutex several_ranks_are_threads;
    static auto& given_up = *new std::vector<std::pair<OTF2_Archive*, EventMemory*>>;
    const std::lock_guard lock{several_ranks_are_threads};
    if (!archive) return;
    try {
        given_up.emplace_back(archive.get(), memory.get());
    } catch (const std::bad_alloc&) {  // leaked as well, only unreachable
    }
    static_cast<void>(archive.release());
    static_cast<void>(memory.release());
}

// Nothing could read it.
void Recorder::State::remove_unfinished()
{
    std::error_code ignored;
    if (team->rank() == 0) fs::remove_all(unfinished(directory), ignored);
}

RegionRef Recorder::region(const std::string& name, RegionRole role, Paradigm paradigm)
{
    if (!on()) return {};
    const std::lock_guard lock{state_->mutex};
    return {state_->regions.number({.name = name, .role = role, .paradigm = paradigm})};
}

AttributeRef Recorder::attribute(const std::string& name, Type type, const std::string& description)
{
    if (!on()) return {};
    const std::lock_guard lock{state_->mutex};
    return {state_->attributes.number({.name = name, .description = description, .type = type}), type};
}

TextRef Recorder::text(const std::string& text)
{
    if (!on()) return {};
    const std::lock_guard lock{state_->mutex};
    return {state_->texts.number(text)};
}

MetricRef Recorder::metric(const std::string& name, const std::string& unit, Type type, MetricMode mode,
                           const std::string& description)
{
    if (!on()) return {};
    const std::lock_guard lock{state_->mutex};
    return {
        state_->metrics.number({.name = name, .unit = unit, .description = description, .type = type, .mode = mode}),
        type};
}

CommunicatorRef Recorder::communicator(CommunicatorKey key, const std::vector<int>& members, const std::string& name)
{
    if (!on()) return {};
    const std::lock_guard lock{state_->mutex};
    const auto number = static_cast<std::uint32_t>(state_->communicators.size());
    const auto [place, added] = state_->communicators.try_emplace(key, CommunicatorRef{number});
    if (added)
        state_->record.communicators.push_back(
            {.maker = key.maker,
             .number = key.number,
             .members = members,
             .name = name.empty() ? base::join("communicator ", key.maker, ".", key.number) : name,
             .given = {}});
    return place->second;
}

void Recorder::name(CommunicatorRef communicator, const std::string& name)
{
    if (!on()) return;
    const std::lock_guard lock{state_->mutex};
    state_->record.communicators.at(communicator.id).given = name;
}

LocationRecorder& Recorder::location(const std::string& name, LocationKind kind)
{
    static LocationRecorder nowhere_to_record;
    if (!on()) return nowhere_to_record;
    State& state = *state_;
    const std::lock_guard lock{state.mutex};
    if (!state.memory->has_room_for_a_location())
        base::fail("cannot record on ", name, ": no memory left for its events, ",
                   base::format(base::Bytes{event_chunk_bytes}), " a location");
    const std::uint64_t id = location_number(state.team->rank(), state.locations.size());
    OTF2_EvtWriter* writer = check(OTF2_Archive_GetEvtWriter(state.archive.get(), id), "record on ", name);
    state.attribute_lists.emplace_back(check(OTF2_AttributeList_New(), "record on ", name));
    LocationRecorder& location = state.locations.emplace_back();
    location.recorder_ = this;
    location.id_ = id;
    location.attributes_ = state.attribute_lists.back().get();
    location.writer_ = writer;
    state.writers.push_back(writer);
    state.record.locations.push_back({.id = id, .name = name, .kind = kind});
    return location;
}

void Recorder::speaks_mpi(const LocationRecorder& location)
{
    if (!on()) return;
    const std::lock_guard lock{state_->mutex};
    if (state_->record.mpi_locations.empty()) state_->record.mpi_locations.push_back(location.id_);
}

void Recorder::property(const std::string& name, const std::string& value)
{
    if (!on()) return;
    const std::lock_guard lock{state_->mutex};
    state_->record.properties[name] = value;
}

void Recorder::process_property(const std::string& name, const std::string& value)
{
    if (!on()) return;
    const std::lock_guard lock{state_->mutex};
    state_->record.process_properties[name] = value;
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

std::vector<ProcessRecord> Recorder::State::gather_records()
{
    record.texts = texts.rows();
    record.regions = regions.rows();
    record.attributes = attributes.rows();
    record.metrics = metrics.rows();
    record.realtime_minus_monotonic_end_ns = base::realtime_offset_ns();
    record.clock_samples.push_back(team->clock_sample(record.clock_identity));
    std::vector<ProcessRecord> records;
    for (const std::string& bytes : team->gather(to_bytes(record))) records.push_back(record_from_bytes(bytes));
    return records;
}

void Recorder::State::write_local(const Numbering& numbering)
{
    for (const LocationRow& location : record.locations)
        write_local_definitions(archive.get(), location.id, numbering, record.clock_samples);
}

void Recorder::State::write_global(const std::vector<ProcessRecord>& records, const Unified& unified)
{
    write_global_definitions(archive.get(), records, unified);
    for (const auto& property : record.properties)
        check(OTF2_Archive_SetProperty(archive.get(), property.first.c_str(), property.second.c_str(), true),
              "set property ", property.first);
}

// In steps: before a rank comes to one in which OTF2 waits for the others, all have done the one before it.
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

void Recorder::finish()
{
    if (!on()) return;
    for (LocationRecorder& location : state_->locations) location.writer_ = nullptr;  // an event from now on is lost
    try {
        state_->write();
    } catch (const base::Error& error) {
        state_->give_up();
        state_->remove_unfinished();
        base::fail("no trace ", state_->directory.string(), ": ", error.what());
    }
}

}  // namespace otf2
