// SPDX-License-Identifier: Apache-2.0
// Makes the HDF5 wrappers of soft-errors available in namespace ddl.
#pragma once

#include "soft-errors/state/hdf5.hpp"

namespace ddl::hdf5 {

using soft_errors::hdf5::Attribute;
using soft_errors::hdf5::check;
using soft_errors::hdf5::DataSet;
using soft_errors::hdf5::File;
using soft_errors::hdf5::Group;
using soft_errors::hdf5::Handle;
using soft_errors::hdf5::Lock;
using soft_errors::hdf5::Object;
using soft_errors::hdf5::Properties;
using soft_errors::hdf5::Space;
using soft_errors::hdf5::Type;
using soft_errors::hdf5::why;

}  // namespace ddl::hdf5
