#include "ddl-workloads/checkpoint/training_state.hpp"

namespace ddl {

std::vector<StateTensor> training_state(Model& model, bool ranks_are_equal)
{
    std::vector<StateTensor> all = model.state();
    if (!ranks_are_equal)
        for (StateTensor& tensor : all) tensor.owner = Owner::each;
    return all;
}

}  // namespace ddl
