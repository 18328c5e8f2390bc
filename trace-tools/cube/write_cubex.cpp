// SPDX-License-Identifier: Apache-2.0
#include "base/files.hpp"
#include "trace-tools/cube/anchor_xml.hpp"
#include "trace-tools/cube/cubex.hpp"
#include "trace-tools/cube/tar.hpp"

#include <cstdint>

namespace cube {

namespace {

template <class Number>
void append(std::string& bytes, Number number)
{
    bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void append(std::string& bytes, CubeMetric::Type type, double value)
{
    if (type == CubeMetric::Type::whole)
        append(bytes, static_cast<std::uint64_t>(value));
    else if (type == CubeMetric::Type::signed_whole)
        append(bytes, static_cast<std::int64_t>(value));
    else
        append(bytes, value);
}

struct Members {
    std::string index = "CUBEX.INDEX";
    std::string data = "CUBEX.DATA";
};

// Missing rows are zeros, but pycubexr requires at least one row, and all rows of minimum and maximum metrics.
Members members_of(const CubeMetric& metric, const CubeProfile& profile)
{
    constexpr std::uint32_t native_order = 1;
    constexpr std::uint16_t version = 0;
    constexpr std::uint8_t sparse = 1;
    Members members;
    append(members.index, native_order);
    append(members.index, version);
    append(members.index, sparse);
    std::vector<std::uint32_t> rows;
    const std::vector<double> zeros(profile.locations.size());
    const bool all_rows = metric.type == CubeMetric::Type::least || metric.type == CubeMetric::Type::most;
    std::uint32_t row = 0;
    for (const std::size_t path : call_paths_by_row(profile.call_paths, metric.kind)) {
        const auto values = metric.rows.find(path);
        if (values != metric.rows.end() || all_rows || (row == 0 && metric.rows.empty())) {
            rows.push_back(row);
            for (const double value : values == metric.rows.end() ? zeros : values->second)
                append(members.data, metric.type, value);
        }
        ++row;
    }
    append(members.index, static_cast<std::uint32_t>(rows.size()));
    for (const std::uint32_t one : rows) append(members.index, one);
    return members;
}

// If a member fills whole blocks, CubeLib expects an empty block after it, and reads zeros from there on. So its length
// is kept different from a multiple of 512.
std::string not_whole_blocks(std::string xml)
{
    if (xml.size() % 512 == 0) xml += '\n';
    return xml;
}

}  // namespace

void write_cubex(const std::filesystem::path& file, CubeProfile profile)
{
    give_one_root(profile);
    TarWriter tar;
    for (std::size_t id = 0; id < profile.metrics.size(); ++id) {
        if (profile.metrics[id].kind == CubeMetric::Kind::derived) continue;
        const Members members = members_of(profile.metrics[id], profile);
        tar.add(std::to_string(id) + ".index", members.index);
        tar.add(std::to_string(id) + ".data", members.data);
    }
    tar.add("anchor.xml", not_whole_blocks(anchor_xml(profile)));
    base::write_whole(file, tar.finish());
}

}  // namespace cube
