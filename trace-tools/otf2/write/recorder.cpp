// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/otf2/write/recorder.hpp"

#include "base/files.hpp"
#include "base/system/launcher.hpp"
#include "base/units.hpp"
#include "trace-tools/otf2/write/recorder_state.hpp"
#include "trace-tools/otf2/write/team.hpp"

#include <system_error>

namespace otf2 {

namespace fs = std::filesystem;

namespace {

bool is_there(const fs::path& path)
{
    std::error_code unknown;  // ignored, as creating the directory will report the reason
    return fs::exists(fs::symlink_status(path, unknown));
}

void make_room(const fs::path& directory)
{
    if (directory.empty()) base::fail("no directory to record into");
    const fs::path beside = unfinished(directory);
    if (is_there(directory) || directory.filename() == "..") base::fail_taken(directory);
    if (is_there(beside))
        base::fail("cannot record into ", directory.string(), ": a killed or still running run left ", beside.string(),
                   "; if none runs, remove it");
    std::error_code code;
    if (!directory.parent_path().empty()) fs::create_directories(directory.parent_path(), code);
    if (!code) fs::create_directory(beside, code);
    if (code) base::fail("cannot create ", beside.string(), ": ", code.message());
}

}  // namespace

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
        state.record.clock_offsets.push_back(all.clock_offset(state.record.clock_identity));

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

Recorder::~Recorder() = default;

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
        state_->metrics.number({{.name = name, .unit = unit, .description = description, .type = type, .mode = mode}}),
        type};
}

MetricClassRef Recorder::metrics(const std::vector<MetricRow>& members)
{
    if (!on()) return {};
    const std::lock_guard lock{state_->mutex};
    MetricClassRef metrics{state_->metrics.number(members), {}};
    for (const MetricRow& member : members) metrics.types.push_back(member.type);
    return metrics;
}

RegionRef Recorder::in_group(const std::string& group, RegionRef region)
{
    if (!on()) return region;
    const std::lock_guard lock{state_->mutex};
    state_->region_groups[group].push_back(region.id);
    return region;
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
             .name = name.empty() ? base::join("communicator ", key.maker, ".", key.number) : name});
    return place->second;
}

void Recorder::name(CommunicatorRef communicator, const std::string& name)
{
    if (!on()) return;
    const std::lock_guard lock{state_->mutex};
    state_->record.communicators.at(communicator.id).given = name;
}

LocationRecorder& Recorder::location(const std::string& name, const Placement& placement)
{
    static LocationRecorder nowhere_to_record;
    if (!on()) return nowhere_to_record;
    State& state = *state_;
    const std::lock_guard lock{state.mutex};
    if (state.over) base::fail("cannot record on ", name, ": the trace is finished");
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
    LocationRow& row = state.record.locations.emplace_back();
    row.id = id;
    row.name = name;
    row.kind = placement.kind;
    row.accelerator = placement.accelerator;
    row.properties = placement.properties;
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

void Recorder::finish()
{
    if (!on()) return;
    for (LocationRecorder& location : state_->locations) location.writer_ = nullptr;  // later events are dropped
    try {
        state_->write();
    } catch (const base::Error& error) {
        state_->give_up();
        state_->remove_unfinished();
        base::fail("no trace ", state_->directory.string(), ": ", error.what());
    }
}

}  // namespace otf2
