// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/data/formats/hdf5_file.hpp"

#include "base/descriptor.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "ddl-workloads/data/shape_json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

#include <fcntl.h>
#include <unistd.h>

namespace ddl::hdf5 {

namespace fs = std::filesystem;

namespace {

constexpr auto shape_attribute = "crosstalk_shape";  // JSON
constexpr int most_dimensions = 4;

bool has(const File& file, const std::string& name)
{
    return H5Lexists(file.get(), name.c_str(), H5P_DEFAULT) > 0;
}

Space in_memory(const Rows& rows, hsize_t count)
{
    std::vector<hsize_t> sizes = rows.sizes;
    sizes[0] = count;
    return Space{check(H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr), "make a space")};
}

}  // namespace

File open_file(const fs::path& path)
{
    if (fs::is_directory(path)) base::fail(path.string(), " is a folder, not an HDF5 file");
    base::refuse_irregular(path);
    const base::Descriptor readable =
        base::check_errno(::open(path.c_str(), O_RDONLY | O_CLOEXEC), "open ", path.string());
    File file{H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT)};
    if (!file.valid()) base::fail(path.string(), " is not an HDF5 file, or is cut off (HDF5: ", why(), ")");
    return file;
}

std::string group_of(const File& file, Part part)
{
    if (!has(file, "train") || !has(file, "held_out")) return "/";
    return part == Part::train ? "/train/" : "/held_out/";
}

Rows open_rows(const File& file, const fs::path& path, const std::string& name)
{
    Rows rows;
    rows.name = name;
    rows.set = DataSet{H5Dopen2(file.get(), name.c_str(), H5P_DEFAULT)};
    if (!rows.set.valid()) base::fail(path.string(), " has no dataset ", name, " (HDF5: ", why(), ")");
    const Type type{H5Dget_type(rows.set.get())};
    if (H5Tget_class(type.get()) != H5T_INTEGER) base::fail(path.string(), ", ", name, ": not integers");
    const Properties properties{H5Dget_create_plist(rows.set.get())};
    if (H5Pget_external_count(properties.get()) != 0)
        base::fail(path.string(), ", ", name, ": external storage is not supported");
    rows.space = Space{H5Dget_space(rows.set.get())};
    const int rank = H5Sget_simple_extent_ndims(rows.space.get());
    if (rank < 1 || rank > most_dimensions)
        base::fail(path.string(), ", ", name, ": ", rank, " dimensions instead of 1 to ", most_dimensions);
    rows.sizes.resize(static_cast<std::size_t>(rank));
    H5Sget_simple_extent_dims(rows.space.get(), rows.sizes.data(), nullptr);
    for (const hsize_t size : rows.sizes)
        if (size < 1 || size > UINT32_MAX) base::fail(path.string(), ", ", name, ": a dimension of size ", size);
    rows.one = in_memory(rows, 1);
    return rows;
}

std::int64_t numbers_in_row(const Rows& rows)
{
    constexpr std::int64_t most = 1'000'000'000;
    std::int64_t numbers = 1;
    for (std::size_t at = 1; at < rows.sizes.size(); ++at) {
        const auto size = static_cast<std::int64_t>(rows.sizes[at]);
        if (numbers > most / size) return -1;
        numbers *= size;
    }
    return numbers;
}

std::string read_rows(const Rows& rows, hsize_t first, hsize_t count, hid_t type, void* into)
{
    const std::array<hsize_t, most_dimensions> begin{first};
    std::array<hsize_t, most_dimensions> size{};
    std::ranges::copy(rows.sizes, size.begin());
    size[0] = count;
    H5Sselect_hyperslab(rows.space.get(), H5S_SELECT_SET, begin.data(), nullptr, size.data(), nullptr);
    const Space several = count == 1 ? Space{} : in_memory(rows, count);
    const hid_t space = count == 1 ? rows.one.get() : several.get();
    return H5Dread(rows.set.get(), type, space, rows.space.get(), H5P_DEFAULT, into) < 0 ? why() : "";
}

std::optional<haddr_t> plain_bytes(const Rows& rows)
{
    const Properties properties{H5Dget_create_plist(rows.set.get())};
    const Type type{H5Dget_type(rows.set.get())};
    const haddr_t at = H5Dget_offset(rows.set.get());
    const bool contiguous = H5Pget_layout(properties.get()) == H5D_CONTIGUOUS;
    const bool bytes = H5Tget_precision(type.get()) == 8 && H5Tget_size(type.get()) == 1;
    if (!contiguous || at == HADDR_UNDEF || !bytes || H5Tget_sign(type.get()) != H5T_SGN_NONE) return {};
    return at;
}

void keep_shape(const File& file, const SampleShape& shape)
{
    const std::string text = to_json(shape).dump();
    const Type type{check(H5Tcopy(H5T_C_S1), "copy a type")};
    check(H5Tset_size(type.get(), text.size()), "size a type");
    const Space space{check(H5Screate(H5S_SCALAR), "make a space")};
    const Attribute attribute{
        check(H5Acreate2(file.get(), shape_attribute, type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT),
              "make the attribute ", shape_attribute)};
    check(H5Awrite(attribute.get(), type.get(), text.data()), "write the attribute ", shape_attribute);
}

std::optional<SampleShape> kept_shape(const File& file, const fs::path& path)
{
    if (H5Aexists(file.get(), shape_attribute) <= 0) return {};
    const Attribute attribute{
        check(H5Aopen(file.get(), shape_attribute, H5P_DEFAULT), "open ", shape_attribute, " of ", path.string())};
    const Type type{H5Aget_type(attribute.get())};
    const std::size_t bytes = H5Tget_size(type.get());
    std::string text(std::min<std::size_t>(bytes, 1U << 16U), '\0');
    const Space space{H5Aget_space(attribute.get())};
    if (H5Tget_class(type.get()) != H5T_STRING || H5Tis_variable_str(type.get()) > 0 || text.size() != bytes ||
        H5Sget_simple_extent_npoints(space.get()) != 1 || H5Aread(attribute.get(), type.get(), text.data()) < 0)
        base::fail(path.string(), ": its attribute ", shape_attribute, " is not text");
    try {
        return shape_from_json(base::parse_json(text, path.string()));
    } catch (const nlohmann::json::exception& error) {
        base::fail(path.string(), ", attribute ", shape_attribute, ": ", error.what());
    }
}

}  // namespace ddl::hdf5
