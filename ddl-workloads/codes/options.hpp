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

inline const base::OptionCard t_option{"t", "2", "polydot: rows of blocks of the left matrix"};
inline const base::OptionCard s_option{
    "s", "2", "polydot: columns of blocks of the left matrix, rows of blocks of the right one"};
inline const base::OptionCard columns_option{"columns", "0",
                                             "polydot: columns of blocks of the right matrix; 0: as many as t"};
inline const base::OptionCard points_option{
    "points", "chebyshev", "polydot: where polynomials are evaluated: chebyshev, or complex roots of unity (roots)"};

// The option `grid`.
Grid grid_of(const base::Settings& settings);

// `copies` of a layer of grid.blocks() ranks each.
LayerCode replicated(const Grid& grid, int copies);

}  // namespace ddl
