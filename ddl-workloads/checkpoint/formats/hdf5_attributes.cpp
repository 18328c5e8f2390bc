// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/checkpoint/formats/hdf5_attributes.hpp"

#include "base/error.hpp"

#include <algorithm>

namespace ddl {

using hdf5::check;

void write_attribute(hid_t object, const char* name, hid_t type, const void* value)
{
    const hdf5::Space one{check(H5Screate(H5S_SCALAR), "make a space")};
    const hdf5::Attribute attribute{
        check(H5Acreate2(object, name, type, one.get(), H5P_DEFAULT, H5P_DEFAULT), "make the attribute ", name)};
    check(H5Awrite(attribute.get(), type, value), "write the attribute ", name);
}

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

}  // namespace ddl
