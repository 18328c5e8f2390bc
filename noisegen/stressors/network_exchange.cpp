// Messages between the noise processes of a job through MPI, or over TCP where there is no second MPI rank: contends
// for the network, its adapters and their share of memory bandwidth.
#include "base/error.hpp"
#include "base/words.hpp"
#include "noisegen/mpi_exchange.hpp"
#include "noisegen/tcp_exchange.hpp"

#include <limits>

namespace noisegen {

namespace {

struct NetworkOptions {
    TcpOptions tcp;
    int window = 1;
};

NetworkOptions network_options(const base::Settings& settings)
{
    const auto bytes = settings.get<base::Bytes>("bytes").count;
    const int window = settings.get<int>("window");
    const int port = settings.get<int>("port");
    if (bytes < 1 || bytes > (1 << 30))
        base::fail_usage("network.exchange[bytes]: 1B to 1GiB, not ", settings.text("bytes"));
    if (window < 1 || window > 1024) base::fail_usage("network.exchange[window]: 1 to 1024, not ", window);
    if (port < 1 || port > std::numeric_limits<std::uint16_t>::max())
        base::fail_usage("network.exchange[port]: 1 to 65535, not ", port);
    return {.tcp = {.bytes = static_cast<std::size_t>(bytes),
                    .hosts = base::split(settings.text("hosts"), '+'),
                    .port = static_cast<std::uint16_t>(port)},
            .window = window};
}

bool through_mpi(const NetworkOptions& options, const Place& place)
{
    return options.tcp.hosts.empty() && place.job.under_mpi && place.job.size > 1 && mpi_available();
}

}  // namespace

extern const StressorCard network_exchange{
    .name = "network.exchange",
    .summary = "messages around a ring of MPI ranks if there are two or more, else over TCP; an operation is a message",
    .options =
        with_intensity("500MiB/s or 1000/s",
                       {{"bytes", "1MiB", "per message"},
                        {"window", "4", "messages under way at once (MPI)"},
                        {"hosts", "", "TCP to the noisegens there, a+b+c; empty: MPI, or loopback in a process alone"},
                        {"port", "47111", "where they listen, with hosts"}}),
    .counts_bytes = true,
    .counts_operations = true,
    .needs =
        [](const base::Settings& settings) {
            const NetworkOptions options = network_options(settings);
            const auto messages = static_cast<std::int64_t>(options.window) + 1;
            return Needs{
                .memory = {messages * static_cast<std::int64_t>(options.tcp.bytes)}, .disk = {}, .directory = {}};
        },
    .share = [](const base::Settings& settings, const Place& place) -> std::unique_ptr<Shared> {
        const NetworkOptions options = network_options(settings);
        return through_mpi(options, place) ? share_mpi(place) : share_tcp(options.tcp);
    },
    .make = [](const base::Settings& settings, const Place& place) -> std::unique_ptr<Stressor> {
        const NetworkOptions options = network_options(settings);
        return through_mpi(options, place) ? make_mpi_exchange(place, options.tcp.bytes, options.window)
                                           : make_tcp_exchange(place, options.tcp);
    },
};

}  // namespace noisegen
