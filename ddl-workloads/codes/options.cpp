// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/codes/options.hpp"

#include "ddl-workloads/codes/code.hpp"

namespace ddl {

Grid grid_of(const base::Settings& settings)
{
    return parse_grid(settings.text("grid"));
}

LayerCode replicated(const Grid& grid, int copies)
{
    LayerCode code{
        .grid = grid, .rows = repeated_identity(grid.rows, copies), .columns = repeated_identity(grid.columns, copies)};
    for (int copy = 0; copy < copies; ++copy)
        for (int row = 0; row < grid.rows; ++row)
            for (int column = 0; column < grid.columns; ++column)
                code.places.push_back({.row = copy * grid.rows + row,
                                       .column = copy * grid.columns + column,
                                       .input = column,
                                       .output = row});
    return code;
}

}  // namespace ddl
