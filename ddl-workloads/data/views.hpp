// SPDX-License-Identifier: Apache-2.0
// Records seen as others: several files as one, a part of a file that has no parts.
#pragma once

#include "ddl-workloads/data/data_set.hpp"

#include <memory>
#include <vector>

namespace ddl {

// One after the other; at least one, all of one shape.
std::unique_ptr<Records> joined(std::vector<std::unique_ptr<Records>> files);

// Every fifth is held out. Throws Error for fewer than five records.
std::unique_ptr<Records> fifths(std::unique_ptr<Records> all, Part part);

}  // namespace ddl
