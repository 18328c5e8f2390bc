// SPDX-License-Identifier: Apache-2.0
// Sums of gradients over all MPI ranks, like another data-parallel training: contend for the network and for memory
// bandwidth.
#include "noisegen/stressors/network/message_options.hpp"
#include "noisegen/stressors/network/mpi_exchange.hpp"

namespace noisegen {

namespace {

constexpr std::size_t item = sizeof(float);

}

extern const StressorCard network_allreduce{
    .name = "network.allreduce",
    .summary = mpi_summary(
        "MPI_Iallreduce of floats among the noise processes; counts 2(n-1)/n of the bytes for n ranks; an operation "
        "is all bytes once"),
    .options = with_intensity("500MiB/s or 10/s", {{"bytes", "100MiB", "bytes of gradients per CPU"},
                                                   {"bucket", "1MiB", "bytes per allreduce"}}),
    .counts_bytes = true,
    .counts_operations = true,
    .needs =
        [](const base::Settings& settings) {
            message_size("network.allreduce", settings, "bucket", item);
            const std::size_t bytes = message_size("network.allreduce", settings, "bytes", item);
            return Needs{.memory = {2 * static_cast<std::int64_t>(bytes)}, .mpi = true};
        },
    .share = [](const base::Settings&, const Place& place) { return share_mpi(place); },
    .make =
        [](const base::Settings& settings, const Place& place) {
            return make_mpi_allreduce(place, message_size("network.allreduce", settings, "bytes", item),
                                      message_size("network.allreduce", settings, "bucket", item));
        },
};

}  // namespace noisegen
