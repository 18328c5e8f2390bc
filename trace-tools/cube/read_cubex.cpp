// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "base/files.hpp"
#include "trace-tools/cube/anchor_xml.hpp"
#include "trace-tools/cube/cubex.hpp"
#include "trace-tools/cube/tar.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>

#include <zlib.h>

namespace cube {

namespace {

constexpr std::uint64_t most_anchor_bytes = std::uint64_t{1} << 28U;  // limit, as compressed data can expand enormously
constexpr std::uint64_t most_values = std::uint64_t{1} << 27U;        // limit over all metrics that are read

// ------------------------------------------------------------------------------------------------------------- bytes

struct Bytes {
    std::string_view rest;
    bool swapped = false;

    std::string_view take(std::uint64_t count)
    {
        if (count > rest.size()) base::fail("ends too early");
        const std::string_view taken = rest.substr(0, count);
        rest.remove_prefix(count);
        return taken;
    }

    template <class Number>
    Number number()
    {
        char bytes[sizeof(Number)];
        std::memcpy(bytes, take(sizeof(Number)).data(), sizeof(Number));
        if (swapped) std::reverse(std::begin(bytes), std::end(bytes));
        return std::bit_cast<Number>(bytes);
    }

    bool skip(std::string_view words)
    {
        if (!rest.starts_with(words)) return false;
        rest.remove_prefix(words.size());
        return true;
    }
};

// ------------------------------------------------------------------------------------------------------ values

struct ValueType {
    std::size_t bytes = 0;
    double (*read)(Bytes&) = nullptr;
};

template <class Number>
constexpr ValueType as()
{
    return {sizeof(Number), [](Bytes& bytes) { return static_cast<double>(bytes.number<Number>()); }};
}

// Type by its name in the file; composite types are not supported.
std::optional<ValueType> value_type(const std::string& word)
{
    static const std::vector<std::pair<std::vector<std::string>, ValueType>> types{
        {{"DOUBLE", "FLOAT", "MINDOUBLE", "MAXDOUBLE"}, as<double>()},
        {{"UINT64", "UNSIGNED INTEGER"}, as<std::uint64_t>()},
        {{"INT64", "INTEGER", "SIGNED INTEGER"}, as<std::int64_t>()},
        {{"UINT32", "UNSIGNED INT"}, as<std::uint32_t>()},
        {{"INT32", "INT", "SIGNED INT"}, as<std::int32_t>()},
        {{"UINT16", "UNSIGNED SHORT INT"}, as<std::uint16_t>()},
        {{"INT16", "SHORT INT", "SIGNED SHORT INT"}, as<std::int16_t>()},
        {{"UINT8", "CHAR"}, as<std::uint8_t>()},
        {{"INT8"}, as<std::int8_t>()},
    };
    for (const auto& [names, type] : types)
        if (std::ranges::find(names, word) != names.end()) return type;
    return {};
}

// The rows of an index, in the order of the values, and whether the values have the other byte order.
struct Index {
    std::vector<std::uint32_t> rows{};
    bool swapped = false;
};

Index read_index(std::string_view content, std::size_t call_paths)
{
    constexpr std::uint32_t other_order = 0x01000000;
    enum Format : std::uint8_t { sparse = 1, dense = 3 };
    Bytes bytes{content};
    if (!bytes.skip("CUBEX.INDEX")) base::fail("does not begin with CUBEX.INDEX");
    const auto order = bytes.number<std::uint32_t>();
    if (order != 1 && order != other_order) base::fail("has an unknown byte order");
    bytes.swapped = order == other_order;
    bytes.number<std::uint16_t>();  // version
    const auto format = bytes.number<std::uint8_t>();
    Index index{.swapped = bytes.swapped};
    if (format == dense) {
        index.rows.resize(call_paths);
        std::iota(index.rows.begin(), index.rows.end(), 0U);
    } else if (format == sparse) {
        const auto count = bytes.number<std::uint32_t>();
        if (count > call_paths) base::fail("has more rows than there are call paths");
        for (std::uint32_t i = 0; i < count; ++i) index.rows.push_back(bytes.number<std::uint32_t>());
    } else {
        base::fail("is of format ", unsigned{format}, ", which is not supported");
    }
    return index;
}

// Each row is a separate compressed stream. Source: Cube's C writer.
std::string decompressed_rows(Bytes bytes, std::size_t rows, std::size_t row_bytes)
{
    const auto count = bytes.number<std::uint64_t>();
    if (count != rows) base::fail("has ", count, " rows where its index has ", rows);
    std::vector<std::uint64_t> sizes;
    for (std::size_t i = 0; i < rows; ++i) {
        bytes.take(2 * sizeof(std::uint64_t));  // two offsets of the row, not needed as rows are contiguous
        sizes.push_back(bytes.number<std::uint64_t>());
    }
    std::string values(rows * row_bytes, '\0');
    char* row = values.data();
    for (const std::uint64_t size : sizes) {
        const std::string_view compressed = bytes.take(size);
        uLongf plain = row_bytes;
        if (uncompress(reinterpret_cast<Bytef*>(row), &plain, reinterpret_cast<const Bytef*>(compressed.data()),
                       compressed.size()) != Z_OK ||
            plain != row_bytes)
            base::fail("cannot be decompressed");
        row += row_bytes;
    }
    return values;
}

void read_values(CubeMetric& metric, const CubeProfile& profile, const ValueType& type, const Index& index,
                 std::string_view content)
{
    const std::size_t row_bytes = profile.locations.size() * type.bytes;
    Bytes bytes{.rest = content, .swapped = index.swapped};
    std::string plain;
    if (bytes.skip("ZCUBEX.DATA")) {
        plain = decompressed_rows(bytes, index.rows.size(), row_bytes);
        bytes.rest = plain;
    } else if (!bytes.skip("CUBEX.DATA")) {
        base::fail("does not begin with CUBEX.DATA");
    }
    if (bytes.rest.size() / std::max<std::size_t>(row_bytes, 1) < index.rows.size()) base::fail("ends too early");
    const std::vector<std::size_t> call_paths = call_paths_by_row(profile.call_paths, metric.kind);
    for (const std::uint32_t row : index.rows) {
        if (row >= call_paths.size()) base::fail("has a row without a call path");
        std::vector<double>& values = metric.rows[call_paths[row]];
        values.clear();
        for (std::size_t i = 0; i < profile.locations.size(); ++i) values.push_back(type.read(bytes));
    }
}

std::string anchor_of(const std::string& file)
{
    std::string anchor;
    read_tar(
        file, [](const std::string& name) { return name == "anchor.xml"; },
        [&](const std::string&, std::string content) { anchor = std::move(content); });
    if (anchor.empty()) base::fail("it has no anchor.xml");
    return anchor.starts_with("\x1f\x8b") ? gunzipped(anchor, most_anchor_bytes) : anchor;
}

CubeProfile read(const std::string& file, const std::vector<std::string>& metrics)
{
    Anchor anchor = read_anchor_xml(anchor_of(file));
    CubeProfile& profile = anchor.profile;
    std::map<std::string, std::size_t> wanted;  // metrics by the name of their member, without the extension
    for (std::size_t i = 0; i < profile.metrics.size(); ++i)
        if (profile.metrics[i].kind != CubeMetric::Kind::derived &&
            (metrics.empty() || std::ranges::find(metrics, profile.metrics[i].unique_name) != metrics.end()))
            wanted.emplace(anchor.ids[i], i);
    std::map<std::string, std::string> members;
    read_tar(
        file,
        [&](const std::string& name) {
            return (name.ends_with(".index") || name.ends_with(".data")) &&
                   wanted.contains(name.substr(0, name.rfind('.')));
        },
        [&](const std::string& name, std::string content) { members.emplace(name, std::move(content)); });

    std::uint64_t values = 0;
    for (const auto& [id, i] : wanted) {
        CubeMetric& metric = profile.metrics[i];
        const auto index_member = members.find(id + ".index");
        const auto data_member = members.find(id + ".data");
        if (index_member == members.end() || data_member == members.end()) continue;  // all values are zero
        const std::optional<ValueType> type = value_type(anchor.types[i]);
        if (!type) {
            profile.oddities.push_back(base::join("values of metric ", metric.unique_name, " are ", anchor.types[i],
                                                  ", which is not supported"));
            continue;
        }
        try {
            const Index index = read_index(index_member->second, profile.call_paths.size());
            values += std::uint64_t{index.rows.size()} * profile.locations.size();
            if (values > most_values) base::fail("exceeds the limit of ", most_values, " values");
            read_values(metric, profile, *type, index, data_member->second);
        } catch (const base::Error& error) {
            base::fail("metric ", metric.unique_name, " ", error.what());
        }
    }
    return std::move(profile);
}

}  // namespace

CubeProfile read_cubex(const std::filesystem::path& file, const std::vector<std::string>& metrics)
{
    const std::string content = base::read_whole(file);
    try {
        return read(content, metrics);
    } catch (const base::Error& error) {
        base::fail("cannot read ", file.string(), ": ", error.what());
    }
}

}  // namespace cube
