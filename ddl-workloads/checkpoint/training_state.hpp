// What of a training goes into its checkpoints.
#pragma once

#include "ddl-workloads/models/model.hpp"

#include <vector>

namespace ddl {

// What this rank has. Ranks that are not kept equal have each its own.
std::vector<StateTensor> training_state(Model& model, bool ranks_are_equal);

}  // namespace ddl
