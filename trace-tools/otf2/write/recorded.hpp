// SPDX-License-Identifier: Apache-2.0
// Definitions recorded by each process, and their unification on rank 0. Each rank numbers its regions in its own
// order, and gets a table that maps its numbers to the archive's.
#pragma once

#include "trace-tools/otf2/definitions.hpp"
#include "trace-tools/otf2/write/team.hpp"

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace otf2 {

// Rows are numbered in the order of their first use; equal rows share a number.
template <class Row>
class Table {
 public:
    std::uint32_t number(const Row& row)
    {
        const auto [place, added] = numbers_.try_emplace(row, static_cast<std::uint32_t>(rows_.size()));
        if (added) rows_.push_back(row);
        return place->second;
    }
    const std::vector<Row>& rows() const { return rows_; }

 private:
    std::vector<Row> rows_;
    std::map<Row, std::uint32_t> numbers_;
};

struct RegionRow {
    std::string name;
    RegionRole role = RegionRole::function;
    Paradigm paradigm = Paradigm::user;
    auto operator<=>(const RegionRow&) const = default;
};

struct AttributeRow {
    std::string name;
    std::string description;
    Type type = Type::uint64;
    auto operator<=>(const AttributeRow&) const = default;
};

using MetricClass = std::vector<MetricRow>;  // the metrics of one event

// Maker rank and number distinguish communicators with equal members.
struct CommunicatorRow {
    int maker = 0;
    std::int64_t number = 0;
    std::vector<int> members;  // ranks in the team
    std::string name;          // equal on all ranks
    std::string given{};       // name given on this rank: see Recorder::name()
    auto operator<=>(const CommunicatorRow&) const = default;
};

struct LocationRow {
    std::uint64_t id = 0;
    std::string name;
    LocationKind kind = LocationKind::cpu_thread;
    std::string accelerator;  // location group of the accelerator; empty: the location belongs to the process itself
    std::map<std::string, std::string> properties;
    std::uint64_t events = 0;
    std::int64_t first_ns = INT64_MAX;  // on this process's clock; greater than last_ns if there are no events
    std::int64_t last_ns = INT64_MIN;
};

struct ProcessRecord {
    std::string process;
    std::string host;
    std::string clock_identity;
    std::int64_t realtime_minus_monotonic_start_ns = 0;
    std::int64_t realtime_minus_monotonic_end_ns = 0;
    std::vector<ClockOffset> clock_offsets;  // in time order
    std::vector<std::string> texts;
    std::vector<RegionRow> regions;
    std::vector<AttributeRow> attributes;
    std::map<std::string, std::vector<std::uint32_t>> region_groups;  // region numbers by group name
    std::vector<MetricClass> metrics;
    std::vector<CommunicatorRow> communicators;
    std::vector<LocationRow> locations;
    std::vector<std::uint64_t> mpi_locations;  // at most one
    std::map<std::string, std::string> properties;
    std::map<std::string, std::string> process_properties;
};

std::string to_bytes(const ProcessRecord& record);
ProcessRecord record_from_bytes(const std::string& bytes);

// Maps a rank's row numbers to the archive's.
struct Numbering {
    std::vector<std::uint32_t> texts;
    std::vector<std::uint32_t> regions;
    std::vector<std::uint32_t> attributes;
    std::vector<std::uint32_t> metrics;
    std::vector<std::uint32_t> communicators;
};

std::string to_bytes(const Numbering& numbering);
Numbering numbering_from_bytes(const std::string& bytes);

struct Unified {
    Table<std::string> texts;
    Table<RegionRow> regions;
    Table<AttributeRow> attributes;
    std::map<std::string, std::set<std::uint32_t>> region_groups;
    Table<MetricClass> metrics;
    Table<CommunicatorRow> communicators;
    std::vector<Numbering> numberings;  // by rank
};

Unified unify(const std::vector<ProcessRecord>& records);

}  // namespace otf2
