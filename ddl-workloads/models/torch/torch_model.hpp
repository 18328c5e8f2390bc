// SPDX-License-Identifier: Apache-2.0
// A LibTorch network with its loss and optimizer, as a Model.
#pragma once

#include "ddl-workloads/models/model.hpp"
#include "ddl-workloads/models/torch/torch_network.hpp"

#include <functional>
#include <memory>
#include <string>

namespace ddl {

// Calls `build` after the number of threads and the seed have been set.
std::unique_ptr<Model> torch_model(const std::function<std::shared_ptr<Network>()>& build, const ModelPlan& plan);

// Throws UsageError if the data set does not hold images.
void check_images(const std::string& model, const SampleShape& shape);

}  // namespace ddl
