// SPDX-License-Identifier: Apache-2.0
// Batches as tensors on the device that computes.
#pragma once

#include "ddl-workloads/data/loading/batch.hpp"
#include "ddl-workloads/models/torch/device/torch_device.hpp"
#include "ddl-workloads/models/torch/torch_network.hpp"

namespace ddl {

// On the CPU the tensors are views of the batch, which must outlive them.
Inputs inputs_of(const Batch& batch, const SampleShape& shape, const TorchDevice& device);

}  // namespace ddl
