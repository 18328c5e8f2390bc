// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/checkpoint/checkpoint_format.hpp"

#include "base/contract/stored_state.hpp"
#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "base/version.hpp"

#include <algorithm>

namespace ddl {

using hdf5::check;

namespace {

void write_number(hid_t object, const char* name, std::int64_t value)
{
    write_attribute(object, name, H5T_STD_I64LE, &value);
}

void write_text(hid_t object, const char* name, const std::string& value)
{
    const hdf5::Type type{check(H5Tcopy(H5T_C_S1), "copy a type")};
    check(H5Tset_size(type.get(), value.size() + 1), "size a type");
    check(H5Tset_cset(type.get(), H5T_CSET_UTF8), "encode a type");
    write_attribute(object, name, type.get(), value.c_str());
}

}  // namespace

std::filesystem::path checkpoint_file(const std::filesystem::path& checkpoint)
{
    return checkpoint / base::checkpoint::index;
}

std::filesystem::path shard_file(const std::filesystem::path& checkpoint, std::int64_t shard)
{
    return checkpoint / base::join(base::checkpoint::shard_begin, shard, base::checkpoint::shard_end);
}

hid_t file_type(ElementType type)
{
    switch (type) {
        case ElementType::float32:
            return H5T_IEEE_F32LE;
        case ElementType::float64:
            return H5T_IEEE_F64LE;
        case ElementType::int32:
            return H5T_STD_I32LE;
        case ElementType::int64:
            return H5T_STD_I64LE;
        case ElementType::uint8:
            break;
    }
    return H5T_STD_U8LE;
}

void write_attribute(hid_t object, const char* name, hid_t type, const void* value)
{
    const hdf5::Space one{check(H5Screate(H5S_SCALAR), "make a space")};
    const hdf5::Attribute attribute{
        check(H5Acreate2(object, name, type, one.get(), H5P_DEFAULT, H5P_DEFAULT), "make the attribute ", name)};
    check(H5Awrite(attribute.get(), type, value), "write the attribute ", name);
}

hdf5::Attribute open_attribute(hid_t object, const char* name, H5T_class_t expected)
{
    hdf5::Attribute attribute{check(H5Aopen(object, name, H5P_DEFAULT), "find the attribute ", name)};
    const hdf5::Type type{check(H5Aget_type(attribute.get()), "read the type of ", name)};
    const hdf5::Space space{check(H5Aget_space(attribute.get()), "read the shape of ", name)};
    if (H5Tget_class(type.get()) != expected || H5Sget_simple_extent_npoints(space.get()) != 1)
        base::fail("the attribute ", name, " is not one that ddl-train writes");
    return attribute;
}

std::int64_t read_number(hid_t object, const char* name)
{
    std::int64_t value = 0;
    check(H5Aread(open_attribute(object, name, H5T_INTEGER).get(), H5T_NATIVE_INT64, &value), "read ", name);
    return value;
}

std::string read_text(hid_t object, const char* name)
{
    constexpr std::size_t longest = 65536;
    const hdf5::Attribute attribute = open_attribute(object, name, H5T_STRING);
    const hdf5::Type type{check(H5Aget_type(attribute.get()), "read the type of ", name)};
    const std::size_t size = H5Tget_size(type.get());
    if (H5Tis_variable_str(type.get()) != 0 || size > longest)
        base::fail("the attribute ", name, " is not one that ddl-train writes");
    std::string value(size, '\0');
    check(H5Aread(attribute.get(), type.get(), value.data()), "read ", name);
    value.resize(std::min(value.find('\0'), size));
    return value;
}

void write_meta(hid_t file, const CheckpointMeta& meta, std::int64_t shard, std::size_t tensors)
{
    const hdf5::Object group{
        check(H5Gcreate2(file, "meta", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "make the group meta")};
    write_number(group.get(), "format", checkpoint_format);
    write_text(group.get(), base::checkpoint::program, "ddl-train");
    write_text(group.get(), "version", base::version());
    write_text(group.get(), "git_revision", base::git_revision());
    write_number(group.get(), "written_ns", base::now_ns() + base::realtime_offset_ns());
    write_number(group.get(), "step", meta.step);
    write_number(group.get(), "epoch", meta.step / meta.steps_per_epoch);
    write_number(group.get(), "step_in_epoch", meta.step % meta.steps_per_epoch);
    write_number(group.get(), "steps_per_epoch", meta.steps_per_epoch);
    write_number(group.get(), "seed", static_cast<std::int64_t>(meta.seed));
    write_number(group.get(), "batch", meta.batch);
    write_number(group.get(), "accumulate", meta.accumulate);
    write_number(group.get(), "ranks", meta.ranks);
    write_text(group.get(), "model", meta.model);
    write_text(group.get(), "data", meta.data);
    write_text(group.get(), "strategy", meta.strategy);
    write_text(group.get(), "optimizer", meta.optimizer);
    write_text(group.get(), "rates", meta.rates);
    write_number(group.get(), "shards", meta.shards);
    write_number(group.get(), "shard", shard);
    write_number(group.get(), "tensors", static_cast<std::int64_t>(tensors));
}

CheckpointMeta read_meta(hid_t group)
{
    CheckpointMeta meta;
    meta.step = read_number(group, "step");
    meta.steps_per_epoch = read_number(group, "steps_per_epoch");
    meta.seed = static_cast<std::uint64_t>(read_number(group, "seed"));
    meta.batch = read_number(group, "batch");
    meta.accumulate = read_number(group, "accumulate");
    meta.ranks = read_number(group, "ranks");
    meta.model = read_text(group, "model");
    meta.data = read_text(group, "data");
    meta.strategy = read_text(group, "strategy");
    meta.optimizer = read_text(group, "optimizer");
    if (H5Aexists(group, "rates") > 0) meta.rates = read_text(group, "rates");
    meta.shards = read_number(group, "shards");
    return meta;
}

}  // namespace ddl
