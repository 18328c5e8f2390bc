// SPDX-License-Identifier: Apache-2.0
// Messages between the noise processes of a job through MPI, or over TCP without a second MPI rank: contend for the
// network, its adapters and their share of memory bandwidth.
#include "base/system/launcher.hpp"
#include "noisegen/stressors/network/message_options.hpp"
#include "noisegen/stressors/network/mpi_exchange.hpp"
#include "noisegen/stressors/network/tcp_exchange.hpp"

namespace noisegen {

namespace {

struct NetworkOptions {
    TcpOptions tcp;
    int window = 1;
};

NetworkOptions network_options(const base::Settings& settings)
{
    return {.tcp = tcp_options("network.exchange", settings),
            .window = count_option("network.exchange", settings, "window", 1024)};
}

bool through_mpi(const NetworkOptions& options, const base::JobRank& job)
{
    return options.tcp.hosts.empty() && job.under_mpi && job.size > 1;
}

}  // namespace

extern const StressorCard network_exchange{
    .name = "network.exchange",
    .summary = mpi_summary(
        "messages around a ring of MPI ranks; with one rank, like network.stream over one connection; an operation is "
        "a message"),
    .options = with_intensity(
        "500MiB/s or 1000/s",
        {{"bytes", "1MiB", "bytes per message"},
         {"window", "4", "messages in flight (MPI)"},
         {"hosts", "", "hosts of the run's other noisegens for TCP, a+b+c; empty: MPI, or loopback with one process"},
         {"port", "47111", "TCP port to listen on, with hosts"}}),
    .counts_bytes = true,
    .counts_operations = true,
    .needs =
        [](const base::Settings& settings) {
            const NetworkOptions options = network_options(settings);
            Needs needs = tcp_needs(options.tcp);
            const auto messages = static_cast<std::int64_t>(options.window) + 1;
            needs.mpi = through_mpi(options, base::job_rank());
            needs.memory.count += messages * static_cast<std::int64_t>(options.tcp.bytes);
            return needs;
        },
    .share = [](const base::Settings& settings, const Place& place) -> std::unique_ptr<Shared> {
        const NetworkOptions options = network_options(settings);
        return through_mpi(options, place.job) ? share_mpi(place) : share_tcp(options.tcp, place);
    },
    .make = [](const base::Settings& settings, const Place& place) -> std::unique_ptr<Stressor> {
        const NetworkOptions options = network_options(settings);
        return through_mpi(options, place.job) ? make_mpi_exchange(place, options.tcp.bytes, options.window)
                                               : make_tcp_exchange(place, options.tcp);
    },
};

}  // namespace noisegen
