// SPDX-License-Identifier: Apache-2.0
// The same alteration again, in the same file or in another framework's.
#pragma once

#include "base/random.hpp"
#include "soft-errors/drawing/selection.hpp"
#include "soft-errors/stored/packed_tensors.hpp"

#include <filesystem>
#include <optional>
#include <vector>

namespace soft_errors {

struct Replay {
    std::vector<Site> sites = {};
    std::optional<double> scale = {};
};

// The sites of this state that the record altered. `record`: of ddl-alter, or what hdf5_corrupter saves as its
// injection sequence: {"path": [[index, bits], ..]}; where an index is empty it is drawn. `map`: a CSV
// `from,to,permutation`, of paths, and of "1 0" where axis 0 of the new tensor is axis 1 of the old one; empty: paths
// are the same. Throws Error if a tensor is missing, or has another type or shape.
Replay replayed(const StoredState& state, const std::filesystem::path& record, const std::filesystem::path& map,
                base::Random& random);

}  // namespace soft_errors
