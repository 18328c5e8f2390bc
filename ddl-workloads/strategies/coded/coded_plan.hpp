// SPDX-License-Identifier: Apache-2.0
// Options of --strategy coded.
#pragma once

#include "ddl-workloads/strategies/coded/coded_weights.hpp"
#include "ddl-workloads/strategies/coded/polydot_product.hpp"
#include "ddl-workloads/strategies/strategy.hpp"

#include <variant>

namespace ddl {

struct StrategyPlan {
    std::variant<WeightsPlan, ProductCode> code;
    CodedPlan products;
};

// Both throw UsageError.
StrategyPlan parse_coded(const StrategyParts& parts);
base::Capabilities coded_needs(const base::Settings& settings);

}  // namespace ddl
