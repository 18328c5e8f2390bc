// HDF5 as in base, under this room's name.
#pragma once

#include "base/state/hdf5.hpp"

namespace ddl::hdf5 {

using base::hdf5::Attribute;
using base::hdf5::check;
using base::hdf5::DataSet;
using base::hdf5::File;
using base::hdf5::Group;
using base::hdf5::Handle;
using base::hdf5::Lock;
using base::hdf5::Object;
using base::hdf5::Properties;
using base::hdf5::Space;
using base::hdf5::Type;
using base::hdf5::why;

}  // namespace ddl::hdf5
