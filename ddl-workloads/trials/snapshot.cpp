// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/trials/snapshot.hpp"

#include "base/error.hpp"

#include <algorithm>

namespace ddl {

Snapshot::Snapshot(Model& model)
{
    for (const StateTensor& tensor : model.state()) tensors_.emplace_back(tensor.bytes.begin(), tensor.bytes.end());
}

void Snapshot::restore(Model& model) const
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
