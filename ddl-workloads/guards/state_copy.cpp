// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/guards/state_copy.hpp"

#include "base/error.hpp"

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
    if (state.size() != tensors_.size())
        base::fail("cannot restore the model's state: it has ", state.size(), " tensors, the copy has ",
                   tensors_.size());
    for (std::size_t i = 0; i < state.size(); ++i) {
        if (state[i].bytes.size() != tensors_[i].size()) base::fail(state[i].path, " has changed its size");
        std::copy(tensors_[i].begin(), tensors_[i].end(), state[i].bytes.begin());
    }
    model.restored();
}

}  // namespace ddl
