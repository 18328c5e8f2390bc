// The part of a training that its checkpoints hold.
#pragma once

#include "ddl-workloads/models/model.hpp"

#include <vector>

namespace ddl {

// The state of this rank. Ranks that are not kept equal each have their own.
std::vector<StateTensor> training_state(Model& model, bool ranks_are_equal);

}  // namespace ddl
