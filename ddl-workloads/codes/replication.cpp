// SPDX-License-Identifier: Apache-2.0
// Copies of each block. Two that differ show an error; the majority of three or more corrects it.
#include "ddl-workloads/codes/code.hpp"
#include "ddl-workloads/codes/options.hpp"

namespace ddl {

namespace {

int copies_of(const base::Settings& settings)
{
    const int copies = settings.get<int>("copies");
    if (copies < 2 || copies > 9) base::fail_usage("replication[copies] must be 2 to 9, not ", copies);
    return copies;
}

}  // namespace

extern const CodeCard replication_code{
    .name = "replication",
    .summary = "copies of each block: two detect an error, three or more correct it",
    .options = {grid_option, copies_option},
    .layer = [](const base::Settings& settings,
                std::uint64_t) { return replicated(grid_of(settings), copies_of(settings)); },
};

}  // namespace ddl
