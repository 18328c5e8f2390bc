// The models that LibTorch computes.
#pragma once

#include "ddl-workloads/models/model.hpp"

#include <vector>

namespace ddl {

std::vector<const ModelCard*> torch_models();

}  // namespace ddl
