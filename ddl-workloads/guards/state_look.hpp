// SPDX-License-Identifier: Apache-2.0
// The numbers of a rank's model and optimizer at one point of a step, shared by all guards that examine them.
#pragma once

#include "ddl-workloads/models/model.hpp"
#include "soft-errors/state/checksums.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ddl {

class StateLook {
 public:
    // Holds views, which are valid until the next step. States of random number generators (meta/) are left out.
    explicit StateLook(Model& model) : tensors_{model.state()}
    {
        std::erase_if(tensors_, [](const StateTensor& tensor) { return tensor.path.starts_with("meta/"); });
    }

    // The tensors, in the same order every time and on all ranks.
    const std::vector<StateTensor>& tensors() const { return tensors_; }

    // CRC-32C of each tensor, computed once.
    const std::vector<std::uint32_t>& checksums()
    {
        if (checksums_.empty())
            for (const StateTensor& tensor : tensors_) checksums_.push_back(soft_errors::crc32c(tensor.bytes));
        return checksums_;
    }

    // Call after the numbers were changed.
    void changed() { checksums_.clear(); }

 private:
    std::vector<StateTensor> tensors_;
    std::vector<std::uint32_t> checksums_;
};

}  // namespace ddl
