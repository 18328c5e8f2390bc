// SPDX-License-Identifier: Apache-2.0
// Attributes of HDF5 objects that hold a single value.
#pragma once

#include "ddl-workloads/data/hdf5.hpp"

#include <cstdint>
#include <string>

namespace ddl {

void write_attribute(hid_t object, const char* name, hid_t type, const void* value);
void write_number(hid_t object, const char* name, std::int64_t value);
void write_text(hid_t object, const char* name, const std::string& value);

// These throw Error if the attribute does not exist, or is not a single value of that class.
hdf5::Attribute open_attribute(hid_t object, const char* name, H5T_class_t expected);
std::int64_t read_number(hid_t object, const char* name);
std::string read_text(hid_t object, const char* name);

}  // namespace ddl
