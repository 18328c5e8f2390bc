// SPDX-License-Identifier: Apache-2.0
// The definitions of an archive in their stored form: references are numbers, and may point to later definitions.
#pragma once

#include "trace-tools/otf2/read/references.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace otf2 {

struct StoredProperty {
    std::uint32_t of;
    OTF2_StringRef name;
    OTF2_Type type;
    OTF2_AttributeValue value;
};
struct StoredLocationProperty {
    OTF2_LocationRef of;
    OTF2_StringRef name;
    OTF2_Type type;
    OTF2_AttributeValue value;
};
struct StoredNode {
    OTF2_StringRef name, class_name;
    OTF2_SystemTreeNodeRef parent;
    bool operator==(const StoredNode&) const = default;
};
struct StoredProcess {
    OTF2_StringRef name;
    OTF2_LocationGroupType type;
    OTF2_SystemTreeNodeRef node;
    OTF2_LocationGroupRef creator;
    bool operator==(const StoredProcess&) const = default;
};
struct StoredLocation {
    OTF2_LocationRef self;
    OTF2_StringRef name;
    OTF2_LocationType type;
    std::uint64_t events;
    OTF2_LocationGroupRef process;
    bool operator==(const StoredLocation&) const = default;
};
struct StoredRegion {
    OTF2_StringRef name, file;
    OTF2_RegionRole role;
    OTF2_Paradigm paradigm;
    bool operator==(const StoredRegion&) const = default;
};
struct StoredAttribute {
    OTF2_AttributeRef self;
    OTF2_StringRef name, description;
    OTF2_Type type;
    bool operator==(const StoredAttribute&) const = default;
};
struct StoredMetric {
    OTF2_StringRef name, description, unit;
    OTF2_MetricMode mode;
    OTF2_Type type;
    OTF2_Base base;
    std::int64_t exponent;
    bool operator==(const StoredMetric&) const = default;
};
struct StoredMetricClass {
    OTF2_MetricRef self;
    std::vector<OTF2_MetricMemberRef> members;
};
struct StoredMetricInstance {
    OTF2_MetricRef self, of;
};
struct StoredGroup {
    OTF2_GroupType type;
    OTF2_Paradigm paradigm;
    OTF2_GroupFlag flags;
    std::vector<std::uint64_t> members;
    bool operator==(const StoredGroup&) const = default;
};
struct StoredCommunicator {
    OTF2_StringRef name;
    OTF2_GroupRef group;
    bool operator==(const StoredCommunicator&) const = default;
};

struct StoredDefinitions {
    bool has_clock = false;
    std::uint64_t ticks_per_s = 0, first_tick = 0, length_ticks = 0, realtime = OTF2_UNDEFINED_TIMESTAMP;
    std::vector<StoredNode> nodes;
    std::vector<StoredProcess> processes;
    std::vector<StoredLocation> locations;
    std::vector<StoredRegion> regions;
    std::vector<StoredAttribute> attributes;
    std::vector<StoredMetric> metrics;
    std::vector<StoredMetricClass> metric_classes;
    std::vector<StoredMetricInstance> metric_instances;
    std::vector<StoredGroup> groups;
    std::vector<StoredCommunicator> communicators;
    std::vector<StoredProperty> node_properties, process_properties;
    std::vector<StoredLocationProperty> location_properties;
    IndexTable node_table, process_table, metric_table, group_table;
    ReferenceTable references;
    std::size_t repeated = 0;        // definitions repeated with different contents
    std::size_t repeated_alike = 0;  // with equal contents: EZTrace repeats MPI_COMM_WORLD for each rank

    template <class Row>
    void add(IndexTable& table, std::uint64_t self, std::vector<Row>& rows, Row row)
    {
        const auto next = static_cast<std::uint32_t>(rows.size());
        if (table.add(self, next))
            rows.push_back(std::move(row));
        else if (const std::uint32_t known = table.at(self); known < next && rows[known] == row)
            ++repeated_alike;
        else
            ++repeated;
    }

    // EZTrace gives the list of locations and the group of MPI_COMM_WORLD the same number. Communicators refer to the
    // group.
    void add_group(std::uint64_t self, StoredGroup group);
};

// Replaces references by names.
Definitions resolve(StoredDefinitions stored);

}  // namespace otf2
