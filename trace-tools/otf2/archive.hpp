// SPDX-License-Identifier: Apache-2.0
// Global definitions of an archive, with references replaced by names. Indices identify definitions everywhere: an
// event's `region` is an index into Archive::regions.
#pragma once

#include "trace-tools/otf2/clock_offset.hpp"
#include "trace-tools/otf2/definitions.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace otf2 {

constexpr std::uint32_t nowhere = UINT32_MAX;  // no parent, no process, no node

using Properties = std::map<std::string, std::string>;  // numbers as text

struct Clock {
    bool stated = true;  // false: the archive has no clock properties (OTF2 1.1); 1 tick = 1 ns is assumed
    std::uint64_t ticks_per_s = 1'000'000'000;
    std::int64_t begin_ns = 0;  // the archive's first time stamp
    std::int64_t length_ns = 0;
    std::optional<std::int64_t> realtime_ns;  // CLOCK_REALTIME at begin_ns, since OTF2 3.0
};

struct Node {
    std::string name;
    std::string class_name;
    std::uint32_t parent = nowhere;  // index into nodes
    Properties properties{};
};

// A location group. In Crosstalk's archives of an MPI job the index is the rank; accelerators come after the processes.
struct Process {
    std::string name;
    bool accelerator = false;
    std::uint32_t creator = nowhere;  // of an accelerator: the process that uses it
    std::uint32_t node = nowhere;
    Properties properties{};
};

struct Location {
    std::uint64_t id = 0;  // OTF2's own id
    std::string name;
    LocationKind kind = LocationKind::unknown;
    std::uint32_t process = nowhere;
    std::uint64_t events = 0;  // as stated by the definitions, not counted
    std::vector<ClockOffset> clock_offsets{};
    Properties properties{};
};

struct Region {
    std::string name;
    RegionRole role = RegionRole::unknown;
    Paradigm paradigm = Paradigm::unknown;
    std::string file;
};

struct Attribute {
    std::uint32_t id = 0;  // OTF2's own id
    std::string name;
    std::string description;
    Type type = Type::uint64;
};

struct Metric {
    std::string name;
    std::string unit;
    std::string description;
    Type type = Type::uint64;
    MetricMode mode = MetricMode::absolute_point;
    double scale = 1.0;  // value * scale is in the unit: base ^ exponent
};

struct Communicator {
    std::string name;
    Paradigm paradigm = Paradigm::unknown;
    std::vector<std::uint32_t> members{};  // indices into locations, by rank in the communicator
    bool self = false;                     // each user of it is its only member, as in MPI_COMM_SELF; no `members`
};

struct Archive {
    bool is_ours() const { return writer.starts_with("crosstalk "); }

    std::string writer;        // "Score-P 7.1", "crosstalk 0.1.0"
    std::string otf2_version;  // version of the OTF2 library that wrote it
    std::string machine;
    std::string description;
    Clock clock;
    Properties properties;
    std::vector<Node> nodes;
    std::vector<Process> processes;
    std::vector<Location> locations;
    std::vector<Region> regions;
    std::vector<Attribute> attributes;
    std::vector<Metric> metrics;
    std::vector<Communicator> communicators;
    std::vector<std::string> problems;  // found while reading definitions: undefined references, missing files
    std::vector<std::string> oddities;  // sound, but worth reporting: no clock properties, values of a newer OTF2

    // A property of the archive; names are case-insensitive (OTF2 stores them in capitals). None if there is no such
    // property.
    std::optional<std::string> property(const std::string& name) const;

    // A property of the location's process, or else of its node or the nearest node above.
    std::optional<std::string> property(const Location& location, const std::string& name) const;

    // Text "boot-id/inode/CLOCK_MONOTONIC" for the node of a location; empty if the writer did not state it.
    std::string clock_identity(const Location& location) const;

    // Index of the first definition with that name.
    std::optional<std::uint32_t> find_region(const std::string& name) const;
    std::optional<std::uint32_t> find_attribute(const std::string& name) const;
    std::optional<std::uint32_t> find_metric(const std::string& name) const;
};

}  // namespace otf2
