// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/guards/state_copy.hpp"

#include <algorithm>

namespace ddl {

void StateCopy::keep(Model& model, std::int64_t steps_done)
{
    const std::vector<StateTensor> state = model.state();
    tensors_.resize(state.size());
    for (std::size_t i = 0; i < state.size(); ++i) tensors_[i].assign(state[i].bytes.begin(), state[i].bytes.end());
    steps_done_ = steps_done;
}

void StateCopy::restore(Model& model) const
{
    const std::vector<StateTensor> state = model.state();
    for (std::size_t i = 0; i < state.size(); ++i)
        std::copy(tensors_.at(i).begin(), tensors_.at(i).end(), state[i].bytes.begin());
    model.restored();
}

}  // namespace ddl
