// SPDX-License-Identifier: Apache-2.0
// Parts that the cards of several codes share.
#pragma once

#include "base/cli/cards.hpp"
#include "ddl-workloads/codes/layer_code.hpp"

namespace ddl {

inline const base::OptionCard grid_option{"grid", "2x2", "blocks of each weight matrix: rows x columns"};
inline const base::OptionCard parity_option{"parity", "2x2",
                                            "rows of parity blocks below the grid x columns beside it"};
inline const base::OptionCard copies_option{"copies", "2", "ranks that hold each block"};

// The option `grid`.
Grid grid_of(const base::Settings& settings);

// `copies` of a layer of grid.blocks() ranks each.
LayerCode replicated(const Grid& grid, int copies);

}  // namespace ddl
