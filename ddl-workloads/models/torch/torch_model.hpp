// SPDX-License-Identifier: Apache-2.0
// A network of LibTorch's with its loss and optimizer, as a Model.
#pragma once

#include "ddl-workloads/models/model.hpp"
#include "ddl-workloads/models/torch/torch_network.hpp"

#include <functional>
#include <memory>
#include <string>

namespace ddl {

// `build` is called once threads and seed are set.
std::unique_ptr<Model> torch_model(const std::function<std::shared_ptr<Network>()>& build, const ModelPlan& plan);

// Throws UsageError for a data set of another kind.
void check_images(const std::string& model, const SampleShape& shape);

}  // namespace ddl
