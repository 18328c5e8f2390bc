// SPDX-License-Identifier: Apache-2.0
// The interface of the library crosstalk-torch, which ddl-train loads: one function for each model of torch_models.inc,
// and those of torch_archive.hpp.
#pragma once

#include "ddl-workloads/models/model.hpp"
#include "ddl-workloads/models/torch_archive.hpp"

#include <memory>

namespace ddl {

// Same as ModelCard::make.
using MakeModel = std::unique_ptr<Model>(const base::Settings& settings, const ModelPlan& plan);

#define TORCH_MODEL(name, ...) MakeModel make_##name;
#include "ddl-workloads/models/torch_models.inc"

struct TorchMakers {
#define TORCH_MODEL(name, ...) MakeModel* name = make_##name;
#include "ddl-workloads/models/torch_models.inc"
    decltype(&to_torch_archive) to_archive = to_torch_archive;
    decltype(&from_torch_archive) from_archive = from_torch_archive;
};

extern "C" const TorchMakers crosstalk_torch_makers;  // the symbol that ddl-train looks up

}  // namespace ddl
