// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/otf2/write/definition_writer.hpp"

#include "base/contract/trace_names.hpp"
#include "trace-tools/otf2/handles.hpp"

#include <algorithm>
#include <tuple>

namespace otf2 {

namespace {

constexpr std::uint64_t ticks_per_s = 1'000'000'000;

// Writes the global definitions, which refer to each other by number. Strings are numbered and written at their first
// use.
class GlobalDefinitions {
 public:
    explicit GlobalDefinitions(OTF2_GlobalDefWriter* writer, const Unified& unified)
        : writer_{writer}, unified_{unified}
    {
        for (const std::string& text : unified.texts.rows())
            string(text);  // attribute values refer to texts by these numbers
    }

    void clock(const std::vector<ProcessRecord>& records)
    {
        std::int64_t begin_ns = INT64_MAX;
        std::int64_t end_ns = INT64_MIN;
        for (const ProcessRecord& record : records) {
            for (const LocationRow& location : record.locations) {
                if (location.first_ns > location.last_ns) continue;
                begin_ns = std::min(begin_ns, on_common_clock(location.first_ns, record.clock_offsets));
                end_ns = std::max(end_ns, on_common_clock(location.last_ns, record.clock_offsets));
            }
        }
        const ProcessRecord& first = records.front();
        if (begin_ns > end_ns) begin_ns = end_ns = first.clock_offsets.front().at_ns;
        check(OTF2_GlobalDefWriter_WriteClockProperties(
                  writer_, ticks_per_s, static_cast<std::uint64_t>(begin_ns),
                  static_cast<std::uint64_t>(end_ns - begin_ns),
                  static_cast<std::uint64_t>(begin_ns + first.realtime_minus_monotonic_start_ns)),
              "write clock properties");
    }

    void paradigm(OTF2_Paradigm paradigm, const char* name, OTF2_ParadigmClass paradigm_class)
    {
        const OTF2_StringRef name_ref = string(name);
        check(OTF2_GlobalDefWriter_WriteParadigm(writer_, paradigm, name_ref, paradigm_class), "define paradigm ",
              name);
    }

    // A tree: the machine, its hosts and clocks as nodes, the processes on each node, and the locations of each
    // process.
    void system_tree(const std::vector<ProcessRecord>& records)
    {
        node(0, "machine", "machine", OTF2_UNDEFINED_SYSTEM_TREE_NODE);
        domain(0, OTF2_SYSTEM_TREE_DOMAIN_MACHINE);
        Table<std::tuple<std::string, std::string>> nodes;
        for (std::uint32_t rank = 0; rank < records.size(); ++rank) {
            const ProcessRecord& record = records[rank];
            const std::size_t known = nodes.rows().size();
            const std::uint32_t self = 1 + nodes.number({record.host, record.clock_identity});
            if (nodes.rows().size() > known) {
                node(self, record.host, "node", 0);
                domain(self, OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY);
                node_property(self, base::property::clock_identity, record.clock_identity);
                node_property(self, base::property::realtime_at_start,
                              std::to_string(record.realtime_minus_monotonic_start_ns));
                node_property(self, base::property::realtime_at_end,
                              std::to_string(record.realtime_minus_monotonic_end_ns));
            }
            process(rank, self, record);
            node_of_.push_back(self);
        }
    }

    // Accelerators come after all processes, so that process numbers stay equal to ranks. Each is a group of streams
    // that a process uses.
    void accelerators(const std::vector<ProcessRecord>& records)
    {
        Table<std::tuple<std::uint32_t, std::string>> groups;
        for (std::uint32_t rank = 0; rank < records.size(); ++rank) {
            for (const LocationRow& location : records[rank].locations) {
                if (location.accelerator.empty()) continue;
                const std::size_t known = groups.rows().size();
                const auto self =
                    static_cast<std::uint32_t>(records.size()) + groups.number({rank, location.accelerator});
                if (groups.rows().size() > known) {
                    const OTF2_StringRef name = string(location.accelerator);
                    check(OTF2_GlobalDefWriter_WriteLocationGroup(
                              writer_, self, name, OTF2_LOCATION_GROUP_TYPE_ACCELERATOR, node_of_[rank], rank),
                          "define accelerator ", location.accelerator);
                }
                define(location, self);
            }
        }
    }

    void regions()
    {
        const std::vector<RegionRow>& rows = unified_.regions.rows();
        for (std::uint32_t self = 0; self < rows.size(); ++self) {
            const OTF2_StringRef name = string(rows[self].name);
            const OTF2_StringRef no_description = string("");
            check(OTF2_GlobalDefWriter_WriteRegion(writer_, self, name, name, no_description,
                                                   static_cast<OTF2_RegionRole>(rows[self].role),
                                                   static_cast<OTF2_Paradigm>(rows[self].paradigm),
                                                   OTF2_REGION_FLAG_NONE, OTF2_UNDEFINED_STRING, 0, 0),
                  "define region ", rows[self].name);
        }
    }

    void attributes()
    {
        const std::vector<AttributeRow>& rows = unified_.attributes.rows();
        for (std::uint32_t self = 0; self < rows.size(); ++self) {
            const OTF2_StringRef name = string(rows[self].name);
            const OTF2_StringRef description = string(rows[self].description);
            check(OTF2_GlobalDefWriter_WriteAttribute(writer_, self, name, description,
                                                      static_cast<OTF2_Type>(rows[self].type)),
                  "define attribute ", rows[self].name);
        }
    }

    // Groups of regions, each of which Vampir shows in one colour. They are numbered after the groups of communicators.
    void region_groups()
    {
        for (const auto& [name, regions] : unified_.region_groups)
            group(next_group_++, name, OTF2_GROUP_TYPE_REGIONS, OTF2_PARADIGM_USER, {regions.begin(), regions.end()});
    }

    // Metric classes may share definitions of metrics.
    void metrics()
    {
        const std::vector<MetricClass>& rows = unified_.metrics.rows();
        Table<MetricRow> defined;
        for (std::uint32_t self = 0; self < rows.size(); ++self) {
            std::vector<OTF2_MetricMemberRef> members;
            for (const MetricRow& row : rows[self]) {
                const std::size_t known = defined.rows().size();
                members.push_back(defined.number(row));
                if (defined.rows().size() > known) metric(members.back(), row);
            }
            check(OTF2_GlobalDefWriter_WriteMetricClass(writer_, self, static_cast<std::uint8_t>(members.size()),
                                                        members.data(), OTF2_METRIC_ASYNCHRONOUS,
                                                        OTF2_RECORDER_KIND_UNKNOWN),
                  "define the class of metric ", rows[self].front().name);
        }
    }

    // Group 0 lists the location of each rank that calls MPI; groups of communicators list positions in group 0.
    void communicators(const std::vector<ProcessRecord>& records)
    {
        const std::vector<CommunicatorRow>& rows = unified_.communicators.rows();
        if (rows.empty()) return;
        std::vector<std::uint64_t> speakers;
        for (const ProcessRecord& record : records) {
            if (record.mpi_locations.empty() && record.locations.empty())
                base::fail(record.process, " is in a communicator but has no location");
            speakers.push_back(record.mpi_locations.empty() ? record.locations.front().id
                                                            : record.mpi_locations.front());
        }
        group(next_group_++, "MPI locations", OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI, speakers);
        Table<std::vector<int>> groups;
        for (std::uint32_t self = 0; self < rows.size(); ++self) {
            const CommunicatorRow& row = rows[self];
            const std::size_t known = groups.rows().size();
            const std::uint32_t members = 1 + groups.number(row.members);
            if (groups.rows().size() > known)
                group(next_group_++, "ranks of " + row.name, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                      {row.members.begin(), row.members.end()});
            const OTF2_StringRef name = string(row.name);
            check(
                OTF2_GlobalDefWriter_WriteComm(writer_, self, name, members, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE),
                "define communicator ", row.name);
        }
    }

 private:
    OTF2_StringRef string(const std::string& text)
    {
        const std::size_t known = strings_.rows().size();
        const OTF2_StringRef self = strings_.number(text);
        if (strings_.rows().size() > known)
            check(OTF2_GlobalDefWriter_WriteString(writer_, self, text.c_str()), "define a string");
        return self;
    }

    OTF2_AttributeValue text_value(const std::string& text)
    {
        OTF2_AttributeValue value{};
        value.stringRef = string(text);
        return value;
    }

    void node(OTF2_SystemTreeNodeRef self, const std::string& name, const std::string& class_name,
              OTF2_SystemTreeNodeRef parent)
    {
        const OTF2_StringRef name_ref = string(name);
        const OTF2_StringRef class_ref = string(class_name);
        check(OTF2_GlobalDefWriter_WriteSystemTreeNode(writer_, self, name_ref, class_ref, parent), "define node ",
              name);
    }

    void domain(OTF2_SystemTreeNodeRef node, OTF2_SystemTreeDomain domain)
    {
        check(OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(writer_, node, domain), "define a node's domain");
    }

    void node_property(OTF2_SystemTreeNodeRef node, const std::string& name, const std::string& value)
    {
        const OTF2_StringRef name_ref = string(name);
        check(OTF2_GlobalDefWriter_WriteSystemTreeNodeProperty(writer_, node, name_ref, OTF2_TYPE_STRING,
                                                               text_value(value)),
              "define node property ", name);
    }

    void process(OTF2_LocationGroupRef self, OTF2_SystemTreeNodeRef node, const ProcessRecord& record)
    {
        const OTF2_StringRef name = string(record.process);
        check(OTF2_GlobalDefWriter_WriteLocationGroup(writer_, self, name, OTF2_LOCATION_GROUP_TYPE_PROCESS, node,
                                                      OTF2_UNDEFINED_LOCATION_GROUP),
              "define process ", record.process);
        for (const auto& [property, value] : record.process_properties) {
            const OTF2_StringRef property_ref = string(property);
            check(OTF2_GlobalDefWriter_WriteLocationGroupProperty(writer_, self, property_ref, OTF2_TYPE_STRING,
                                                                  text_value(value)),
                  "define process property ", property);
        }
        for (const LocationRow& location : record.locations)
            if (location.accelerator.empty()) define(location, self);
    }

    void define(const LocationRow& location, OTF2_LocationGroupRef group)
    {
        const OTF2_StringRef name = string(location.name);
        check(OTF2_GlobalDefWriter_WriteLocation(writer_, location.id, name,
                                                 static_cast<OTF2_LocationType>(location.kind), location.events, group),
              "define location ", location.name);
        for (const auto& [property, value] : location.properties) {
            const OTF2_StringRef property_ref = string(property);
            check(OTF2_GlobalDefWriter_WriteLocationProperty(writer_, location.id, property_ref, OTF2_TYPE_STRING,
                                                             text_value(value)),
                  "define location property ", property);
        }
    }

    void metric(OTF2_MetricMemberRef self, const MetricRow& row)
    {
        const OTF2_StringRef name = string(row.name);
        const OTF2_StringRef description = string(row.description);
        const OTF2_StringRef unit = string(row.unit);
        check(OTF2_GlobalDefWriter_WriteMetricMember(writer_, self, name, description, OTF2_METRIC_TYPE_USER,
                                                     static_cast<OTF2_MetricMode>(row.mode),
                                                     static_cast<OTF2_Type>(row.type), OTF2_BASE_DECIMAL, 0, unit),
              "define metric ", row.name);
    }

    void group(OTF2_GroupRef self, const std::string& name, OTF2_GroupType type, OTF2_Paradigm paradigm,
               const std::vector<std::uint64_t>& members)
    {
        const OTF2_StringRef name_ref = string(name);
        check(OTF2_GlobalDefWriter_WriteGroup(writer_, self, name_ref, type, paradigm, OTF2_GROUP_FLAG_NONE,
                                              static_cast<std::uint32_t>(members.size()), members.data()),
              "define group ", name);
    }

    OTF2_GlobalDefWriter* writer_;
    const Unified& unified_;
    Table<std::string> strings_;
    std::vector<OTF2_SystemTreeNodeRef> node_of_;  // by rank
    OTF2_GroupRef next_group_ = 0;
};

void write_mapping(OTF2_DefWriter* writer, OTF2_MappingType type, const std::vector<std::uint32_t>& numbers)
{
    if (numbers.empty()) return;
    const IdMapHandle map{
        check(OTF2_IdMap_CreateFromUint32Array(numbers.size(), numbers.data(), false), "make a mapping table")};
    check(OTF2_DefWriter_WriteMappingTable(writer, type, map.get()), "write a mapping table");
}

}  // namespace

void write_global_definitions(OTF2_Archive* archive, const std::vector<ProcessRecord>& records, const Unified& unified)
{
    OTF2_GlobalDefWriter* writer = check(OTF2_Archive_GetGlobalDefWriter(archive), "write definitions");
    GlobalDefinitions definitions{writer, unified};
    definitions.clock(records);
    if (!unified.communicators.rows().empty())
        definitions.paradigm(OTF2_PARADIGM_MPI, "MPI", OTF2_PARADIGM_CLASS_PROCESS);
    definitions.system_tree(records);
    definitions.accelerators(records);
    definitions.regions();
    definitions.attributes();
    definitions.metrics();
    definitions.communicators(records);
    definitions.region_groups();
    check(OTF2_Archive_CloseGlobalDefWriter(archive, writer), "close the definitions");
}

void write_local_definitions(OTF2_Archive* archive, std::uint64_t location, const Numbering& numbering,
                             const std::vector<ClockOffset>& clock_offsets)
{
    OTF2_DefWriter* writer = check(OTF2_Archive_GetDefWriter(archive, location), "write local definitions");
    write_mapping(writer, OTF2_MAPPING_STRING, numbering.texts);
    write_mapping(writer, OTF2_MAPPING_REGION, numbering.regions);
    write_mapping(writer, OTF2_MAPPING_ATTRIBUTE, numbering.attributes);
    write_mapping(writer, OTF2_MAPPING_METRIC, numbering.metrics);
    write_mapping(writer, OTF2_MAPPING_COMM, numbering.communicators);
    for (const ClockOffset& offset : clock_offsets)
        check(OTF2_DefWriter_WriteClockOffset(writer, static_cast<std::uint64_t>(offset.at_ns), offset.offset_ns,
                                              static_cast<double>(offset.error_ns)),
              "write a clock offset");
    check(OTF2_Archive_CloseDefWriter(archive, writer), "close local definitions");
}

}  // namespace otf2
