// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/replay/pop.hpp"

#include <algorithm>

namespace replay {

std::optional<Efficiencies> efficiencies(const std::vector<MpiTimes>& times)
{
    double computed = 0.0;
    double most_computed = 0.0;
    double most_without_transfer = 0.0;
    double most_run = 0.0;
    double ranks = 0.0;
    for (const MpiTimes& one : times) {
        if (!one.counts()) continue;
        const auto run = static_cast<double>(one.run_ns);
        const auto computation = run - static_cast<double>(one.mpi_ns);
        const auto transfer = static_cast<double>(one.mpi_ns - one.waiting_ns);
        computed += computation;
        most_computed = std::max(most_computed, computation);
        most_without_transfer = std::max(most_without_transfer, run - transfer);
        most_run = std::max(most_run, run);
        ++ranks;
    }
    if (ranks == 0.0) return {};
    const auto share = [](double part, double whole) { return whole > 0.0 ? part / whole : 1.0; };
    return Efficiencies{.load_balance = share(computed / ranks, most_computed),
                        .serialisation = share(most_computed, most_without_transfer),
                        .transfer = share(most_without_transfer, most_run)};
}

}  // namespace replay
