// SPDX-License-Identifier: Apache-2.0
// Every MPI rank sends to every other rank simultaneously, as in the transposition of a distributed FFT: contends for
// the network's bisection bandwidth.
#include "base/system/launcher.hpp"
#include "noisegen/stressors/network/message_options.hpp"
#include "noisegen/stressors/network/mpi_exchange.hpp"

namespace noisegen {

extern const StressorCard network_alltoall{
    .name = "network.alltoall",
    .summary = mpi_summary(
        "MPI_Ialltoall among the noise processes; counts the bytes to other ranks; an operation is one call"),
    .options = with_intensity("500MiB/s or 1000/s", {{"bytes", "4KiB", "bytes per pair of ranks"}}),
    .counts_bytes = true,
    .counts_operations = true,
    .needs =
        [](const base::Settings& settings) {
            const auto bytes = static_cast<std::int64_t>(message_size("network.alltoall", settings, "bytes"));
            return Needs{.memory = {2 * bytes * base::job_rank().size}, .mpi = true};
        },
    .share = [](const base::Settings&, const Place& place) { return share_mpi(place); },
    .make =
        [](const base::Settings& settings, const Place& place) {
            return make_mpi_alltoall(place, message_size("network.alltoall", settings, "bytes"));
        },
};

}  // namespace noisegen
