// SPDX-License-Identifier: Apache-2.0
// Blocks without redundancy: what a code is measured against. Errors are neither found nor corrected.
#include "ddl-workloads/codes/code.hpp"
#include "ddl-workloads/codes/options.hpp"

namespace ddl {

extern const CodeCard uncoded_code{
    .name = "uncoded",
    .summary = "a rank for each block; finds no errors",
    .options = {grid_option},
    .layer = [](const base::Settings& settings, std::uint64_t) { return replicated(grid_of(settings), 1); },
};

}  // namespace ddl
