// SPDX-License-Identifier: Apache-2.0
// CodeNet (Dutta et al. 2019): parity blocks below and beside the grid, sums of its blocks with Gaussian coefficients.
// The corner, parities of parities, does not exist.
#include "ddl-workloads/codes/code.hpp"
#include "ddl-workloads/codes/options.hpp"

namespace ddl {

namespace {

LayerCode codenet(const Grid& grid, const Grid& parity, std::uint64_t seed)
{
    LayerCode code{.grid = grid,
                   .rows = systematic_generator(grid.rows, parity.rows, 2 * seed),
                   .columns = systematic_generator(grid.columns, parity.columns, 2 * seed + 1)};
    const auto add = [&](int row, int column) {
        Place place{.row = row, .column = column};
        if (column < grid.columns) place.input = column;
        if (row < grid.rows) place.output = row;
        code.places.push_back(place);
    };
    for (int row = 0; row < grid.rows; ++row)
        for (int column = 0; column < grid.columns; ++column) add(row, column);
    for (int row = 0; row < parity.rows; ++row)
        for (int column = 0; column < grid.columns; ++column) add(grid.rows + row, column);
    for (int row = 0; row < grid.rows; ++row)
        for (int column = 0; column < parity.columns; ++column) add(row, grid.columns + column);
    return code;
}

}  // namespace

extern const CodeCard codenet_code{
    .name = "codenet",
    .summary = "product code: parity blocks below (for forward) and beside (for backward) the grid",
    .options = {grid_option, parity_option},
    .layer =
        [](const base::Settings& settings, std::uint64_t seed) {
            return codenet(grid_of(settings), parse_grid(settings.text("parity"), 0), seed);
        },
};

}  // namespace ddl
