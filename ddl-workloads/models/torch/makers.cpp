#include "ddl-workloads/models/torch/makers.hpp"

namespace ddl {

const TorchMakers crosstalk_torch_makers;

}  // namespace ddl
