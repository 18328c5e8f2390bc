// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/otf2/write/recorded.hpp"

#include <nlohmann/json.hpp>

#include <map>
#include <utility>

namespace otf2 {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ClockOffset, at_ns, offset_ns, error_ns)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RegionRow, name, role, paradigm)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(AttributeRow, name, description, type)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MetricRow, name, unit, description, type, mode)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CommunicatorRow, maker, number, members, name, given)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LocationRow, id, name, kind, accelerator, properties, events, first_ns, last_ns)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ProcessRecord, process, host, clock_identity, realtime_minus_monotonic_start_ns,
                                   realtime_minus_monotonic_end_ns, clock_offsets, texts, regions, attributes,
                                   region_groups, metrics, communicators, locations, mpi_locations, properties,
                                   process_properties)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Numbering, texts, regions, attributes, metrics, communicators)

namespace {

template <class Value>
std::string bytes_of(const Value& value)
{
    std::string bytes;
    nlohmann::json::to_cbor(nlohmann::json(value), bytes);
    return bytes;
}

template <class Value>
Value value_of(const std::string& bytes)
{
    return nlohmann::json::from_cbor(bytes).get<Value>();
}

template <class Row>
std::vector<std::uint32_t> take(Table<Row>& table, const std::vector<Row>& rows)
{
    std::vector<std::uint32_t> numbers;
    numbers.reserve(rows.size());
    for (const Row& row : rows) numbers.push_back(table.number(row));
    return numbers;
}

using Names = std::map<std::pair<int, std::int64_t>, std::string>;

// Names of communicators, by maker and number: the name given by the maker, or else by the lowest rank that gave one.
Names given_names(const std::vector<ProcessRecord>& records)
{
    Names names;
    for (std::size_t rank = 0; rank < records.size(); ++rank) {
        for (const CommunicatorRow& row : records[rank].communicators) {
            if (row.given.empty()) continue;
            std::string& name = names[{row.maker, row.number}];
            if (name.empty() || row.maker == static_cast<int>(rank)) name = row.given;
        }
    }
    return names;
}

std::vector<CommunicatorRow> named(std::vector<CommunicatorRow> rows, const Names& names)
{
    for (CommunicatorRow& row : rows) {
        const auto given = names.find({row.maker, row.number});
        if (given != names.end()) row.name = given->second;
        row.given.clear();
    }
    return rows;
}

}  // namespace

std::string to_bytes(const ProcessRecord& record)
{
    return bytes_of(record);
}

ProcessRecord record_from_bytes(const std::string& bytes)
{
    return value_of<ProcessRecord>(bytes);
}

std::string to_bytes(const Numbering& numbering)
{
    return bytes_of(numbering);
}

Numbering numbering_from_bytes(const std::string& bytes)
{
    return value_of<Numbering>(bytes);
}

Unified unify(const std::vector<ProcessRecord>& records)
{
    Unified unified;
    const Names names = given_names(records);
    for (const ProcessRecord& record : records) {
        Numbering numbering;
        numbering.texts = take(unified.texts, record.texts);
        numbering.regions = take(unified.regions, record.regions);
        numbering.attributes = take(unified.attributes, record.attributes);
        for (const auto& [name, regions] : record.region_groups)
            for (const std::uint32_t region : regions) unified.region_groups[name].insert(numbering.regions[region]);
        numbering.metrics = take(unified.metrics, record.metrics);
        numbering.communicators = take(unified.communicators, named(record.communicators, names));
        unified.numberings.push_back(std::move(numbering));
    }
    return unified;
}

}  // namespace otf2
