#include "ddl-workloads/models/torch_makers.hpp"

namespace ddl {

const TorchMakers crosstalk_torch_makers;

}  // namespace ddl
