// SPDX-License-Identifier: Apache-2.0
// Replays a recorded alteration, in the same file or in that of another framework.
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

// The sites of this state that the record altered. record: of ddl-alter, or an injection sequence of hdf5_corrupter,
// {"path": [[index, bits], ..]}, in which an empty index is drawn. map: a CSV file `from,to,permutation` of paths, with
// "1 0" where axis 0 of the new tensor is axis 1 of the old one; empty: paths are the same. Throws Error if a tensor is
// missing, or has another type or shape.
Replay replayed(const StoredState& state, const std::filesystem::path& record, const std::filesystem::path& map,
                base::Random& random);

}  // namespace soft_errors
