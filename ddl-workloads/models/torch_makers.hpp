// SPDX-License-Identifier: Apache-2.0
// The interface of the library crosstalk-torch, which ddl-train loads: one function for each model of torch_models.inc.
#pragma once

#include "ddl-workloads/models/model.hpp"

#include <memory>

namespace ddl {

// Same as ModelCard::make.
using MakeModel = std::unique_ptr<Model>(const base::Settings& settings, const ModelPlan& plan);

#define TORCH_MODEL(name, ...) MakeModel make_##name;
#include "ddl-workloads/models/torch_models.inc"

struct TorchMakers {
#define TORCH_MODEL(name, ...) MakeModel* name = make_##name;
#include "ddl-workloads/models/torch_models.inc"
};

extern "C" const TorchMakers crosstalk_torch_makers;  // the symbol that ddl-train looks up

}  // namespace ddl
