// SPDX-License-Identifier: Apache-2.0
#include "analysis/input/step_work/work_reader.hpp"

#include "analysis/input/step_work/numbered_rows.hpp"
#include "analysis/input/step_work/recorded_steps.hpp"
#include "base/columns/long_order.hpp"
#include "base/contract/phases.hpp"
#include "base/contract/trace_names.hpp"
#include "base/error.hpp"
#include "trace-tools/otf2/mpi_calls.hpp"

#include <boost/container_hash/hash.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace analysis {

namespace {

constexpr std::size_t no_column = SIZE_MAX;
constexpr std::string_view wait_phase = base::card_of(base::TrainingPhase::wait_exchange).name;

bool is_mpi_call_without_files(const otf2::Region& region)
{
    const std::string call = otf2::mpi_call_name(region);
    return !call.empty() && region.role != otf2::RegionRole::file_io && !call.starts_with("MPI_File_");
}

base::LongColumn<NumberedRow> rows_by_number(const WorkOfSteps& steps)
{
    base::LongColumn<NumberedRow> rows;
    for (std::size_t row = 0; row < steps.size(); ++row) rows.push_back({steps.number(row), row});
    return in_order_of_numbers(std::move(rows));
}

// Sorts by start, because threads of a rank are read one after the other.
base::LongColumn<TimeSpan> in_order_of_begins(const base::LongColumn<TimeSpan>& spans)
{
    const auto earlier = [](const TimeSpan& a, const TimeSpan& b) { return a.begin_ns < b.begin_ns; };
    return std::is_sorted(spans.begin(), spans.end(), earlier) ? spans : base::sorted(spans, earlier);
}

}  // namespace

Part part_of_phase(const std::string& phase)
{
    const base::PhaseCard* const known = base::find_phase(phase);
    if (known == nullptr) return Part::own;
    switch (known->part) {
        case base::PhasePart::input:
            return Part::input;
        case base::PhasePart::checkpoint:
            return Part::checkpoint;
        case base::PhasePart::control:
            return Part::rest;
        case base::PhasePart::compute:
        case base::PhasePart::exchange:
        case base::PhasePart::rest:
            break;
    }
    return Part::own;
}

WorkReader::WorkReader(const otf2::Archive& archive, bool has_phases)
    : archive_{archive},
      has_phases_{has_phases},
      column_of_(archive.regions.size(), no_column),
      column_before_(archive.regions.size(), no_column),
      places_(archive.locations.size()),
      exchanges_(archive.processes.size() + 1),
      exchange_begin_ns_(archive.locations.size())
{
    for (std::uint32_t i = 0; i < archive.regions.size(); ++i) {
        const std::string& name = archive.regions[i].name;
        is_call_.push_back(is_mpi_call_without_files(archive.regions[i]));
        is_exchange_.push_back(has_phases &&
                               (name == base::region::bucket_exchange || name == base::region::parameter_exchange));
        hash_of_.push_back(boost::hash_value(name));
        negotiates_ = negotiates_ || name == base::region::negotiate;
        if (name == wait_phase) wait_region_ = i;
    }
    if (const auto cpu = archive.find_metric("task-clock")) cpu_metric_ = *cpu;
}

std::size_t WorkReader::column_named(const std::string& name)
{
    const auto known = std::find(columns_.begin(), columns_.end(), name);
    if (known == columns_.end()) return columns_.push_back(name), columns_.size() - 1;
    return static_cast<std::size_t>(known - columns_.begin());
}

// Column of the region that the place is in; none outside of the program's regions in an archive without phases.
std::size_t WorkReader::column_of(const Place& place)
{
    if (place.open.size() <= place.around) {
        if (has_phases_ && column_other_ == no_column) column_other_ = column_named("other");
        return column_other_;
    }
    const std::uint32_t region = has_phases_ ? place.open[place.around].region : place.open.back().region;
    std::size_t& column = column_of_[region];
    if (column == no_column) {
        const std::string& name = archive_.regions[region].name;
        column = column_named(has_phases_ && !is_phase(name) ? "other" : name);
    }
    return column;
}

void WorkReader::add_own(Place& place, std::size_t column, std::int64_t ns)
{
    std::vector<std::int64_t>& own_ns = place.step.own_ns;
    if (own_ns.size() <= column) own_ns.resize(column + 1);
    own_ns[column] += ns;
}

void WorkReader::add_outside(Place& place, std::size_t& column, const std::string& where)
{
    if (place.outside_ns <= 0) return;
    if (column == no_column) column = column_named(where);
    add_own(place, column, place.outside_ns);
    place.outside_ns = 0;
}

void WorkReader::spend(Place& place, std::int64_t time_ns)
{
    const std::int64_t ns = time_ns - place.last_ns;
    place.last_ns = time_ns;
    if (!place.in_step || ns <= 0) return;
    if (place.calls_open > 0) {
        place.call_ns += ns;
        return;
    }
    const std::size_t column = column_of(place);
    if (column == no_column)
        place.outside_ns += ns;
    else
        add_own(place, column, ns);
}

void WorkReader::end_call(Place& place, std::uint32_t region)
{
    if (place.in_step && place.call_counts) place.step.calls.push_back({region, place.call_ns});
    place.call_counts = false;
}

void WorkReader::begin_step(const otf2::At& at, std::optional<std::int64_t> number)
{
    Place& place = places_[at.location];
    place.step.signature = 0;
    place.step.own_ns.clear();
    place.step.calls.clear();
    place.step.waits.clear();
    place.step.number = number.value_or(static_cast<std::int64_t>(place.steps.size()));
    place.step.begin_ns = at.time_ns;
    place.last_ns = at.time_ns;
    place.in_step = true;
    place.begins_now = true;
    place.call_counts = false;
    place.outside_ns = 0;
    place.last_region = otf2::nowhere;
    numbered_ = numbered_ && number.has_value();
}

void WorkReader::end_step(const otf2::At& at)
{
    Place& place = places_[at.location];
    spend(place, at.time_ns);
    if (place.calls_open > 0) {
        const auto call =
            std::find_if(place.open.begin(), place.open.end(), [&](const Open& open) { return is_call_[open.region]; });
        if (call != place.open.end()) end_call(place, call->region);
    }
    add_outside(place, column_end_, "(end of step)");
    place.step.end_ns = at.time_ns;
    place.steps.append(place.step);
    place.in_step = false;
}

void WorkReader::enter(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes&)
{
    Place& place = places_[at.location];
    spend(place, at.time_ns);
    if (is_exchange_[region]) exchange_begin_ns_[at.location] = at.time_ns;
    if (is_call_[region] && place.calls_open++ == 0 && place.in_step) {
        if (place.outside_ns > 0) add_outside(place, column_before_[region], "before " + archive_.regions[region].name);
        place.call_ns = 0;
        place.call_counts = true;
    }
    if (place.in_step && !place.begins_now && region != place.last_region)
        boost::hash_combine(place.step.signature, hash_of_[region]);
    place.last_region = region;
    place.open.push_back({region, at.time_ns});
    if (place.begins_now) place.around = place.open.size();
    place.begins_now = false;
}

// Leaves all regions from this level on.
void WorkReader::close(Place& place, std::size_t level, const otf2::At& at)
{
    while (place.open.size() > level) {
        const Open last = place.open.back();
        place.open.pop_back();
        if (is_call_[last.region] && --place.calls_open == 0) end_call(place, last.region);
        if (!place.in_step || !has_phases_) continue;
        if (last.region == wait_region_ && place.open.size() == place.around)
            place.step.waits.push_back({last.begin_ns, at.time_ns});
    }
}

void WorkReader::leave(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes&)
{
    Place& place = places_[at.location];
    spend(place, at.time_ns);
    const auto left =
        std::find_if(place.open.rbegin(), place.open.rend(), [&](const Open& open) { return open.region == region; });
    if (left != place.open.rend()) close(place, static_cast<std::size_t>(place.open.rend() - left) - 1, at);
    if (is_exchange_[region]) {
        exchanges_[process_of(at.location)].push_back({exchange_begin_ns_[at.location], at.time_ns});
    }
    if (place.begins_now) place.around = place.open.size();
    place.begins_now = false;
}

void WorkReader::metric(const otf2::At& at, std::uint32_t metric, const otf2::MetricValue& value)
{
    if (metric != cpu_metric_) return;
    Count& cpu = places_[at.location].cpu;
    if (cpu.first_ns == 0) cpu = {.first_ns = at.time_ns, .last_ns = 0, .first = value.as_double(), .last = 0.0};
    cpu.last_ns = at.time_ns;
    cpu.last = value.as_double();
}

base::LongColumn<std::size_t> WorkReader::rows_of(std::uint32_t location,
                                                  const base::LongColumn<std::int64_t>& numbers) const
{
    const base::LongColumn<NumberedRow> by_number = rows_by_number(places_[location].steps);
    base::LongColumn<std::size_t> rows;
    std::size_t at = 0;
    for (const std::int64_t number : numbers) {
        while (at < by_number.size() && by_number[at].number < number) ++at;
        if (at == by_number.size() || by_number[at].number != number)
            base::fail("step ", number, " has no recorded work");
        rows.push_back(by_number[at].row);
    }
    return rows;
}

Work WorkReader::work(const base::LongColumn<std::int64_t>& numbers, const std::vector<std::uint32_t>& locations) const
{
    RecordedWork recorded;
    recorded.columns = columns_;
    recorded.negotiates = negotiates_;
    for (const std::string& name : columns_) recorded.part_of.push_back(has_phases_ ? part_of_phase(name) : Part::own);
    const auto waits = std::find(columns_.begin(), columns_.end(), wait_phase);
    if (has_phases_ && waits != columns_.end())
        recorded.wait_column = static_cast<std::size_t>(waits - columns_.begin());
    for (const std::uint32_t location : locations) {
        recorded.ranks.push_back({&places_[location].steps, rows_of(location, numbers),
                                  in_order_of_begins(exchanges_[process_of(location)])});
    }
    Work work = work_of(recorded);
    for (std::size_t r = 0; r < locations.size(); ++r) work.ranks[r].cpu_share = places_[locations[r]].cpu.per_ns();
    return work;
}

base::LongColumn<std::uint64_t> WorkReader::signatures(const base::LongColumn<std::int64_t>& numbers,
                                                       std::uint32_t location) const
{
    base::LongColumn<std::uint64_t> all;
    for (const std::size_t row : rows_of(location, numbers)) all.push_back(places_[location].steps.signature(row));
    return all;
}

// Index of the location's process. Locations without a process share the index after the last.
std::size_t WorkReader::process_of(std::uint32_t location) const
{
    const std::uint32_t process = archive_.locations[location].process;
    return process == otf2::nowhere ? archive_.processes.size() : process;
}

}  // namespace analysis
