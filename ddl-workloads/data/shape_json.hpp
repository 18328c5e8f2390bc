// SPDX-License-Identifier: Apache-2.0
// The shape of samples as JSON, for what keeps it beside them.
#pragma once

#include "ddl-workloads/data/sample_shape.hpp"

#include <nlohmann/json_fwd.hpp>

namespace ddl {

nlohmann::ordered_json to_json(const SampleShape& shape);

// Throws Error for what is no whole number or too large.
std::int64_t whole_number(const nlohmann::ordered_json& json);

// Throws nlohmann's exception for what lacks a number, UsageError for a shape that no record can have.
SampleShape shape_from_json(const nlohmann::ordered_json& json);

}  // namespace ddl
