// SPDX-License-Identifier: Apache-2.0
// The shape of samples as JSON, for formats that store it in a file of its own.
#pragma once

#include "ddl-workloads/data/sample_shape.hpp"

#include <nlohmann/json_fwd.hpp>

namespace ddl {

nlohmann::ordered_json to_json(const SampleShape& shape);

// Throws Error if the value is not a whole number or too large.
std::int64_t whole_number(const nlohmann::ordered_json& json);

// Throws nlohmann's exception if a number is missing, UsageError for an invalid shape.
SampleShape shape_from_json(const nlohmann::ordered_json& json);

}  // namespace ddl
