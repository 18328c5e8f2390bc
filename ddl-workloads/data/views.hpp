// SPDX-License-Identifier: Apache-2.0
// Views of records: several files as one, or one part of a file that is not divided into parts.
#pragma once

#include "ddl-workloads/data/data_set.hpp"

#include <memory>
#include <vector>

namespace ddl {

// Concatenates files; at least one, all with the same shape.
std::unique_ptr<Records> joined(std::vector<std::unique_ptr<Records>> files);

// Every fifth record is held out. Throws Error for fewer than five records.
std::unique_ptr<Records> fifths(std::unique_ptr<Records> all, Part part);

}  // namespace ddl
